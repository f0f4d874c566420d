"""fovea.record on whatever calls torch.nn.functional.scaled_dot_product_attention."""
import unittest
import warnings

from package import needs
from recorded import Checked


@needs("numpy", "torch")
class Record(Checked):
    def setUp(self):
        super().setUp()
        import check_captures
        import torch

        import fovea

        self.torch, self.fovea, self.captures = torch, fovea, check_captures
        self.attend = torch.nn.functional.scaled_dot_product_attention
        torch.manual_seed(0)
        self.q, self.k, self.v = 2 * torch.randn(1, 4, 6, 8), torch.randn(1, 4, 6, 8), torch.randn(1, 4, 6, 5)
        grad = torch.no_grad()
        grad.__enter__()
        self.addCleanup(grad.__exit__, None, None, None)

    def shapes(self, content, *last):
        return {name: list(array.shape) for name, array in content.arrays.items() if name.split(".")[-1] in last}

    def test_a_function(self):
        content = self.record(lambda: (self.attend(self.q, self.k, self.v),
                                       self.attend(self.q, self.k, self.v, scale=2.0)))
        self.assertEqual(self.recording.calls, ["attention", "attention.step1"])
        self.assertEqual(content.metadata["attention.step1.scale"], "2.0")
        self.assertTrue((content.arrays["attention.z"] == self.result[0][0].numpy()).all())

    def test_grouped_heads(self):
        content = self.record(lambda: self.attend(self.q, self.k[:, :2], self.v[:, :2], enable_gqa=True))
        self.assertEqual(content.arrays["attention.k"].shape, (2, 6, 8))

    def test_causal_begins_at_the_first_key(self):
        content = self.record(lambda: self.attend(self.q, self.k, self.v, is_causal=True))
        self.assertEqual(content.metadata["causal"], "true")
        content = self.record(lambda: self.attend(self.q[:, :, :4], self.k, self.v, is_causal=True))
        self.assertEqual(content.metadata["causal"], "false")
        self.assertEqual(content.arrays["attention.mask"][1].astype(int).tolist(), [1, 1, 0, 0, 0, 0])

    def test_positional_arguments(self):
        content = self.record(lambda: self.attend(self.q, self.k, self.v, None, 0.0, True))
        self.assertEqual(content.metadata["causal"], "true")

    def test_masks_of_any_shape(self):
        torch = self.torch
        random = torch.rand(2, 4, 6, 6) < 0.6
        random |= torch.eye(6, dtype=torch.bool)
        two = [x.expand(2, -1, -1, -1) for x in (self.q, self.k, self.v)]
        content = self.record(lambda: self.attend(*two, attn_mask=random))
        self.assertEqual(list(self.shapes(content, "mask").values()), 2 * [[4, 6, 6]])
        content = self.record(lambda: self.attend(*two, attn_mask=random[:, :1]))
        self.assertEqual(list(self.shapes(content, "mask").values()), 2 * [[6, 6]])
        keep = torch.tensor([True] * 4 + [False] * 2)
        content = self.record(lambda: self.attend(*two, attn_mask=keep.expand(2, 1, 1, 6)))
        self.assertEqual(self.shapes(content, "mask"), {"attention.batch0.mask": [6], "attention.batch1.mask": [6]})
        content = self.record(lambda: self.attend(self.q, self.k, self.v, attn_mask=torch.randn(6, 6)))
        self.assertEqual(self.shapes(content, "mask", "bias"), {"attention.bias": [6, 6]})
        content = self.record(lambda: self.attend(self.q, self.k, self.v, attn_mask=torch.randn(4, 6, 6)))
        self.assertEqual(self.shapes(content, "mask", "bias"), {"attention.bias": [4, 6, 6]})

    def test_some_heads_have_their_own_masks(self):
        torch = self.torch
        hidden = (torch.rand(4, 6, 6) < 0.3) & ~torch.eye(6, dtype=torch.bool)
        mask = torch.randn(4, 6, 6).masked_fill(hidden, -torch.inf)
        content = self.record(lambda: self.attend(self.q, self.k, self.v, attn_mask=mask), heads=[1, 3])
        self.assertEqual(self.shapes(content, "mask", "bias"),
                         {"attention.mask": [2, 6, 6], "attention.bias": [2, 6, 6]})

    def test_axes(self):
        for axes in (2, 3, 5):
            shape = lambda x: x[0, 0] if axes == 2 else x[0] if axes == 3 else x[None].expand(2, 3, -1, -1, -1)
            content = self.record(lambda: self.attend(*(shape(x) for x in (self.q, self.k, self.v))))
            self.assertEqual(len(self.shapes(content, "q")), 6 if axes == 5 else 1)
            self.assertEqual(list(self.shapes(content, "q").values())[0], [1 if axes == 2 else 4, 6, 8])

    def test_modules_have_paths(self):
        torch = self.torch
        attend = self.attend

        class Attention(torch.nn.Module):
            def forward(self, q, k, v):
                return attend(q, k, v)

        model = torch.nn.Module()
        model.blocks = torch.nn.ModuleList(torch.nn.ModuleDict({"attn": Attention()}) for _ in range(2))
        model.forward = lambda: [block["attn"](self.q, self.k, self.v) for block in model.blocks]
        content = self.record(lambda: model())
        self.assertEqual(self.recording.calls, ["blocks.0.attn", "blocks.1.attn"])
        self.assertEqual(content.metadata["blocks.1.attn.module"], "blocks.1.attn")
        self.record(lambda: model(), layers=[1])
        self.assertEqual(self.recording.calls, ["blocks.1.attn"])
        self.record(lambda: model(), layers=["blocks.0.attn"], model=model)
        self.assertEqual(self.recording.calls, ["blocks.0.attn"])

    def test_multihead_attention(self):
        x = self.torch.randn(1, 7, 16)
        layer = self.torch.nn.MultiheadAttention(16, 4, batch_first=True).eval()
        content = self.record(lambda: layer(x, x, x, need_weights=False))
        self.assertEqual(content.arrays["MultiheadAttention.q"].shape, (4, 7, 4))

    def test_the_encoder_of_pytorch(self):
        layer = self.torch.nn.TransformerEncoderLayer(16, 4, 16, batch_first=True)
        model = self.torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
        x = self.torch.randn(2, 7, 16)
        hidden = self.torch.zeros(2, 7, dtype=self.torch.bool)
        hidden[1, 5:] = True
        content = self.record(lambda: model(x, src_key_padding_mask=hidden))
        self.assertEqual(self.recording.calls, [f"layers.{i}.self_attn.batch{b}" for i in (0, 1) for b in (0, 1)])
        self.assertEqual(content.arrays["layers.1.self_attn.batch1.mask"].tolist(), [True] * 5 + [False] * 2)

    def test_a_compiled_model_runs_uncompiled(self):
        if not hasattr(self.torch.compiler, "set_stance"):
            self.skipTest("this PyTorch cannot run compiled models uncompiled")
        layer = self.torch.nn.TransformerEncoderLayer(16, 4, 16, batch_first=True)
        layers = self.torch.nn.Sequential(layer, layer).eval()
        model = self.torch.compile(layers, backend="eager")
        x = self.torch.randn(1, 7, 16)
        model(x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            self.record(lambda: model(x))
        self.assertEqual(self.recording.calls, ["0.self_attn", "0.self_attn.call1"])
        self.assertEqual(self.fovea.read(self.path()).metadata["model"], "Sequential")

    def test_half_precision(self):
        for kind in (self.torch.bfloat16, self.torch.float16):
            with warnings.catch_warnings():
                warnings.simplefilter("error", self.fovea.FoveaWarning)
                with self.fovea.record(self.path()):
                    self.attend(self.q.to(kind), self.k.to(kind), self.v.to(kind), is_causal=True)

    def test_gradients_stay(self):
        with self.torch.enable_grad():
            q = self.q.clone().requires_grad_()
            self.record(lambda: self.attend(q, self.k, self.v).sum().backward())
        self.assertIsNotNone(q.grad)

    def test_a_wrong_call_is_pytorchs_error(self):
        with self.assertRaises(RuntimeError):
            with self.fovea.record(self.path()):
                self.attend(self.q, self.k[..., :3], self.v)
        self.assertEqual(self.files(), [])
        self.attend(self.q, self.k, self.v)
        self.assertEqual(self.torch.overrides._get_current_function_mode_stack(), [])

    def test_wrong_tokens_in_the_block_lose_no_recording(self):
        for given, says in (("text", "tokens is one string; expected .*: tokens are left out"),
                            (3, "tokens is of the type int"), ({"input_ids": [3]}, "tokens has ids alone"),
                            (["a", 3, [None], object], "6")):
            def run():
                self.attend(self.q, self.k, self.v)
                self.recording.tokens = given

            content = self.record(run, warns=says)
            self.assertEqual(sorted(content.arrays), [f"attention.{name}" for name in "kqvz"])
            self.assertNotIn("tokens", content.metadata)
        with self.assertRaisesRegex(self.fovea.FoveaError, "one string"):
            self.recording.tokens = "text"  # after the block they would be for nothing

    def test_recordings_follow_each_other_and_nest(self):
        other = self.folder / "run.safetensors"
        with self.fovea.record(self.path("outer.safetensors")) as outer:
            self.attend(self.q, self.k, self.v)
            with self.fovea.record(other) as inner:
                self.attend(self.q, self.k, self.v)
            self.attend(self.q, self.k, self.v)
        self.assertEqual(inner.calls, ["attention"])
        self.assertEqual(outer.calls[0], "attention")

    @needs("timm")
    def test_timm(self):
        import timm

        model = timm.create_model("vit_tiny_patch16_224", img_size=32, patch_size=8, depth=2, pretrained=False).eval()
        self.record(lambda: model(self.torch.randn(1, 3, 32, 32)))
        self.assertEqual(self.recording.calls, ["blocks.0.attn", "blocks.1.attn"])


if __name__ == "__main__":
    unittest.main()
