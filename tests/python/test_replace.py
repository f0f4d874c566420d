"""fovea.replace on modules of PyTorch, and on models of transformers with random weights."""
import os
import unittest
import warnings
from unittest import mock

from package import PROGRAM, InFolder, needs

ROUNDING = 2e-6  # of outputs near 1 in float32: sums of some 20 products, computed in two orders


@unittest.skipUnless(PROGRAM, "FOVEA_PROGRAM does not name the program")
class Replaced(InFolder):
    def setUp(self):
        super().setUp()
        import torch

        import fovea
        from fovea import server

        self.torch, self.fovea, self.server = torch, fovea, server
        stand = mock.patch.dict(os.environ, FOVEA=PROGRAM)
        stand.start()
        self.addCleanup(stand.stop)
        self.addCleanup(server.stop)
        torch.manual_seed(0)
        grad = torch.no_grad()
        grad.__enter__()
        self.addCleanup(grad.__exit__, None, None, None)

    def close(self, a, b, most=ROUNDING):
        self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
        self.assertLess((a.double() - b.double()).abs().max().item(), most)

    def quietly(self):
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("error", self.fovea.FoveaWarning)


@needs("numpy", "torch")
class Modules(Replaced):
    def attention(self, **more):
        torch = self.torch

        class Attention(torch.nn.Module):
            dropout = 0.0

            def forward(self, x):
                q, k, v = x.unflatten(-1, (3, -1)).unbind(-2)
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout, **more)

        return Attention()

    def model(self, layers=3, **more):
        """x [B, H, n, 3 d], the next x is made of the output."""
        torch = self.torch
        attention = self.attention

        class Block(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.attn = attention(**more)

            def forward(self, x):
                return torch.cat([self.attn(x), x[..., : 2 * x.shape[-1] // 3]], -1)

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = torch.nn.ModuleList(Block() for _ in range(layers))

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x

        return Model()

    def x(self, *outer, n=20, d=8):
        return self.torch.randn(*outer, n, 3 * d)

    def test_exact_is_the_models_own(self):
        torch = self.torch
        self.quietly()
        n = 20
        conditions = {
            "plain": {}, "causal": {"is_causal": True}, "scale": {"scale": 0.5, "is_causal": True},
            "window": {"attn_mask": torch.ones(n, n, dtype=torch.bool).tril().triu(-4)},
            "padding": {"attn_mask": (torch.arange(n) > 2).expand(n, n)},
            "of members": {"attn_mask": torch.rand(2, 1, n, n) > 0.3},
            "bias": {"attn_mask": torch.randn(3, n, n)},
        }
        for name, more in conditions.items():
            for shape in ((2, 3), (2, 3) if name == "of members" else (3,)):
                with self.subTest(condition=name, axes=len(shape)):
                    model, x = self.model(1, **more), self.x(*shape, n=n)
                    expected = model(x)
                    with self.fovea.replace(model) as replacing:
                        self.close(model(x), expected)
                    self.assertEqual(replacing.calls, 1)
                    self.assertGreater(replacing.seconds, 0)

    def test_grouped_heads(self):
        torch = self.torch
        layer = self.layer(lambda q, kv: torch.nn.functional.scaled_dot_product_attention(q, kv, kv, enable_gqa=True))
        q, kv = torch.randn(2, 6, 9, 8), torch.randn(2, 2, 11, 8)
        try:
            expected = layer(q, kv)
        except TypeError:
            self.skipTest("this PyTorch has no grouped heads")
        with self.fovea.replace(layer):
            self.close(layer(q, kv), expected)

    def layer(self, run):
        return type("Layer", (self.torch.nn.Module,), {"forward": lambda _, *given: run(*given)})()

    def test_the_answer_has_the_type_of_the_queries(self):
        model, x = self.model(1, is_causal=True), self.x(2).bfloat16()
        expected = model(x)
        with self.fovea.replace(model):
            self.close(model(x), expected, 2**-6)  # two spacings of bfloat16 at numbers from 2 to 4

    def test_a_variant_with_parameters(self):
        torch = self.torch
        n = 20
        model, x = self.model(2, is_causal=True), self.x(3, n=n)
        banded = self.model(2, attn_mask=torch.ones(n, n, dtype=torch.bool).tril().triu(-2))
        with self.fovea.replace(model, variant="window", width=2):
            self.close(model(x), banded(x))

    def test_layers(self):
        model, x = self.model(is_causal=True), self.x(3)
        own = model(x)
        for layers, calls in ((1, 1), (range(1, 3), 2), (["blocks.1.attn"], 1), (None, 3), ([0, "blocks.2.attn"], 2)):
            with self.subTest(layers=layers), self.fovea.replace(model, "window", layers=layers, width=0) as replacing:
                self.assertGreater((model(x) - own).abs().max(), 0.01)
                self.assertEqual(replacing.calls, calls)
        self.assertTrue((model(x) == own).all())

    def test_layers_that_never_ran_are_warned_of(self):
        model, x = self.model(), self.x(3)
        with self.assertWarnsRegex(self.fovea.FoveaWarning, "so nothing was replaced there: 3, 4, b.7$"):
            with self.fovea.replace(model, layers=[0, 4, 3, "b.7"]):
                model(x)

    def test_heads(self):
        model, x = self.model(1, is_causal=True), self.x(2, 3)
        own = model(x)
        with self.fovea.replace(model, "window", width=0):
            whole = model(x)
        with self.fovea.replace(model, "window", heads=[2, 0], width=0):
            some = model(x)
        self.assertTrue((some[:, 1] == own[:, 1]).all())
        self.assertTrue((some[:, [0, 2]] == whole[:, [0, 2]]).all())
        with self.assertRaisesRegex(self.fovea.FoveaError, "heads has 3; expected 0 to 2"):
            with self.fovea.replace(model, heads=3):
                model(x)

    def test_a_parameter_whose_name_is_taken(self):
        model, x = self.model(1, is_causal=True), self.x(2)
        outputs = []
        for parameters in ({"heads": "first"}, {"heads": "merged"}):
            with self.fovea.replace(model, "fixed", heads=[0], parameters=parameters, stride=4):
                outputs.append(model(x))
        self.assertFalse((outputs[0][0] == outputs[1][0]).all())
        self.assertTrue((outputs[0][1] == outputs[1][1]).all())

    def test_what_is_unknown_is_said_before_the_model_runs(self):
        for expected, run in (
            ("unknown variant 'hyperr'; expected one of exact", lambda model: self.fovea.replace(model, "hyperr")),
            ("unknown parameter 'blok'", lambda model: self.fovea.replace(model, "hyper", blok=3)),
            ("block", lambda model: self.fovea.replace(model, "hyper", block="many")),
            ("model is of the class int", lambda model: self.fovea.replace(3)),
        ):
            with self.assertRaisesRegex(self.fovea.FoveaError, expected):
                with run(self.model()):
                    self.fail("the block was entered")

    def test_a_block_in_which_nothing_is_replaced(self):
        model, other, x = self.model(), self.model(), self.x(3)
        for expected, run, layers in (
            ("no attention was seen in Model", lambda: None, None),
            ("no attention was seen in Model", lambda: other(x), None),
            ("none of the attentions is in `layers`. Seen were blocks.0.attn, blocks.1.attn, blocks.2.attn",
             lambda: model(x), [7]),
        ):
            with self.assertRaisesRegex(self.fovea.FoveaError, "Nothing was replaced: " + expected):
                with self.fovea.replace(model, layers=layers):
                    run()

    def test_an_exception_passes(self):
        model = self.model()
        with self.assertRaises(ZeroDivisionError):
            with self.fovea.replace(model):
                1 // 0

    def test_what_cannot_be_replaced_ends_the_run(self):
        torch = self.torch
        x = self.x(3)
        with self.assertRaisesRegex(self.fovea.FoveaError, "blocks.0.attn .*: gradients are needed.* torch.no_grad"):
            model, needing = self.model(), x.clone().requires_grad_()
            with torch.enable_grad(), self.fovea.replace(model):
                model(needing)
        with self.assertRaisesRegex(self.fovea.FoveaError, "drops weights at random: call model.eval"):
            model = self.model()
            model.blocks[1].attn.dropout = 0.5
            with self.fovea.replace(model):
                model(x)

    def by_hand(self):
        torch = self.torch

        class Attention(torch.nn.Module):
            num_heads = 3

            def forward(self, x):
                return torch.softmax(x @ x.mT, -1) @ x

        class Model(torch.nn.Module):
            def __init__(model):
                super().__init__()
                model.layers = torch.nn.ModuleList([Attention(), self.attention()])

            def forward(model, x):
                model.layers[0](x)
                return model.layers[1](x)

        return Model()

    def test_attention_by_hand_is_never_silently_exact(self):
        model, x = self.by_hand(), self.x(1, 3)
        with self.assertRaisesRegex(self.fovea.FoveaError, "layers.0 .*cannot be replaced: this module computes its"):
            with self.fovea.replace(model):
                model(x)
        with self.assertRaisesRegex(self.fovea.FoveaError, "layers.0 .*cannot be replaced"):
            with self.fovea.replace(model):
                try:
                    model(x)
                except self.fovea.FoveaError:
                    pass  # a model that goes on
        with self.fovea.replace(model, layers=1):
            self.close(model(x), model.layers[1](x))

    def test_weights_that_are_asked_for_are_none(self):
        torch = self.torch
        layer, x = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.randn(2, 9, 8)
        expected, weights = layer(x, x, x)
        self.assertIsNotNone(weights)
        with self.fovea.replace(layer):
            found, weights = layer(x, x, x)
        self.assertIsNone(weights)
        self.close(found, expected)

    def test_an_encoder_of_pytorch(self):
        torch = self.torch
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
        x = torch.randn(2, 9, 8)
        expected = layer(x)
        with self.fovea.replace(layer) as replacing:
            self.close(layer(x), expected, 4 * ROUNDING)  # through norms and a network
        self.assertEqual(replacing.calls, 1)

    def test_blocks_inside_each_other(self):
        model, x = self.model(is_causal=True), self.x(3)
        with self.fovea.replace(model, "window", width=0) as first, self.fovea.replace(model, layers=1) as second:
            nested = model(x)
        self.assertEqual((first.calls, second.calls), (2, 1))
        with self.fovea.replace(model, "window", layers=[0, 2], width=0):
            self.close(model(x), nested, 4 * ROUNDING)

    def test_a_recording_sees_what_goes_in(self):
        model, x = self.model(2, is_causal=True), self.x(3)
        for inside in (False, True):
            blocks = [self.fovea.replace(model, "window", layers=0, width=0), self.fovea.record(self.path())]
            with self.assertWarnsRegex(self.fovea.FoveaWarning, "Attention was replaced in the block"):
                with blocks[not inside], blocks[inside]:
                    model(x)
            arrays = self.fovea.read(self.path()).arrays
            self.assertNotIn("blocks.0.attn.z", arrays)
            self.assertIn("blocks.1.attn.z", arrays)
            self.assertTrue((arrays["blocks.0.attn.v"] == x[..., 16:].numpy()).all())
            # The queries of the second layer are the output of the first: with a width of 0 its values.
            self.assertTrue((arrays["blocks.1.attn.q"] == x[..., 16:].numpy()).all())

    def test_a_process_that_is_forked_in_the_block_replaces_too(self):
        """Tensors are so small that PyTorch needs no threads, which the child would not have."""
        model, x = self.model(1, is_causal=True), self.x(2)
        with self.fovea.replace(model, "window", width=0):
            expected = model(x)
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    status = 0 if (model(x) == expected).all() else 2
                    self.server.stop()
                finally:
                    os._exit(status)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
            self.assertTrue((model(x) == expected).all())

    def test_a_process_that_dies_in_the_block(self):
        model, x = self.model(), self.x(3)
        with self.assertRaisesRegex(self.fovea.FoveaError, "blocks.1.attn .*serve was ended by signal 9"):
            with self.fovea.replace(model), mock.patch.object(self.server.Server, "runs", lambda _: True):
                model.blocks[0](x)
                self.server._server._process.kill()
                model.blocks[1](x)
        with self.fovea.replace(model):
            model(x)

    def test_numbers_that_are_not_finite(self):
        model, x = self.model(1), self.x(3)
        x[0, 0, 0] = float("nan")
        with self.assertRaisesRegex(self.fovea.FoveaError, "blocks.0.attn .*the request.*q"):
            with self.fovea.replace(model):
                model(x)

    def test_a_block_is_entered_once(self):
        model = self.model()
        replacing = self.fovea.replace(model)
        with replacing:
            model(self.x(3))
        with self.assertRaisesRegex(self.fovea.FoveaError, "for one block"):
            replacing.__enter__()


SMALL = dict(vocab_size=40, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2)


@needs("numpy", "torch", "transformers")
class Transformers(Replaced):
    def setUp(self):
        super().setUp()
        import transformers

        transformers.logging.set_verbosity_error()
        self.transformers = transformers
        self.ids = self.torch.randint(3, 40, (2, 9))
        self.left = self.torch.ones(2, 9, dtype=self.torch.long)
        self.left[0, :3] = 0

    def model(self, name="Llama", implementation="sdpa", kind="ForCausalLM", **more):
        config = getattr(self.transformers, name + "Config")(**{**SMALL, **more})
        model = getattr(self.transformers, name + kind)._from_config(config, attn_implementation=implementation).eval()
        for parameter in model.parameters():
            if parameter.ndim == 2:
                parameter.normal_(0, 0.3)
        return model

    def test_exact_is_the_models_own(self):
        self.quietly()
        seen = self.left.bool()
        for name, more in (("Llama", {}), ("Mistral", {"sliding_window": 4})):
            for implementation in ("sdpa", "eager"):
                with self.subTest(name, implementation=implementation):
                    model = self.model(name, implementation, **more)
                    expected = model(self.ids, attention_mask=self.left).logits
                    with self.fovea.replace(model) as replacing:
                        found = model(self.ids, attention_mask=self.left).logits
                    self.assertEqual(replacing.calls, 2)
                    # Padding aside, which sees nothing. Logits are near 10, through two layers in float32.
                    self.close(found[seen], expected[seen], 1e-4)

    def test_bfloat16(self):
        model = self.model().bfloat16()
        expected = model(self.ids).logits
        with self.fovea.replace(model):
            found = model(self.ids).logits
        self.assertEqual(found.dtype, self.torch.bfloat16)
        self.assertLess((found - expected).float().norm() / expected.float().norm(), 0.03)  # some roundings of 2^-8

    def test_generation_with_a_cache(self):
        model = self.model()
        expected = model.generate(self.ids[:1], max_new_tokens=6, do_sample=False)
        with self.fovea.replace(model) as replacing:
            found = model.generate(self.ids[:1], max_new_tokens=6, do_sample=False)
        self.assertTrue((found == expected).all())
        self.assertEqual(replacing.calls, 12)  # six steps of two layers

    def test_layers_of_a_loss(self):
        model = self.model()
        own = model(self.ids, labels=self.ids).loss
        with self.fovea.replace(model, "window", layers=[1], width=0):
            other = model(self.ids, labels=self.ids).loss
        self.assertGreater(abs(own - other), 1e-3)

    def test_bloom_is_refused(self):
        config = self.transformers.BloomConfig(vocab_size=40, hidden_size=32, n_layer=2, n_head=4)
        model = self.transformers.BloomModel(config).eval()
        with self.assertRaisesRegex(self.fovea.FoveaError, "h.0.self_attention .*cannot be replaced: this module"):
            with self.fovea.replace(model):
                model(self.ids)

    def test_implementations_that_cannot_be_seen_are_refused(self):
        model = self.model(implementation="flex_attention")
        with self.assertRaisesRegex(self.fovea.FoveaError, "cannot be replaced: it is computed with .*flex_attention"):
            with self.fovea.replace(model):
                model(self.ids)


if __name__ == "__main__":
    unittest.main()
