"""fovea.record on attention beside the functions that are watched: by hand, and beneath them."""
import unittest
import warnings

from package import needs
from recorded import Recorded


@needs("numpy", "torch")
class Beside(Recorded):
    # Attention by hand: weights alone.

    def test_weights_by_hand(self):
        torch = self.torch
        q = torch.randn(2, 3, 6, 8)
        hand = self.module(lambda layer, q: torch.softmax(q @ q.mT, -1) @ q, "Attention", num_heads=3)
        content = self.record(lambda: hand(q), "^Attention computes attention by itself: weights alone are recorded, "
                                               "without q, k, v and outputs")
        self.assertEqual(self.recording.calls, ["Attention.batch0", "Attention.batch1"])
        weights = torch.softmax(q @ q.mT, -1).numpy()
        for b in range(2):
            self.assertTrue((content.arrays[f"Attention.batch{b}.attention"] == weights[b]).all())
        self.assertEqual(len(content.arrays), 2)

    def test_forms_by_hand(self):
        torch = self.torch
        x = self.x
        q = torch.randn(1, 2, 6, 8)
        weights = torch.softmax(x @ x.mT, -1)
        forms = {
            "3 axes": (lambda: torch.softmax(x @ x.mT, -1) @ x, weights),
            "2 axes": (lambda: torch.softmax(x[0] @ x[0].mT, -1) @ x[0], weights),
            "one query": (lambda: torch.softmax(x[:, :1] @ x.mT, -1) @ x, weights[:, :1]),
            "log_softmax": (lambda: torch.log_softmax(x @ x.mT, -1).exp() @ x, weights),
            "dropout": (lambda: torch.dropout(torch.softmax(x @ x.mT, -1), 0.5, False) @ x, weights),
            "einsum": (lambda: torch.einsum("bhqk,bhkd->bqhd", torch.softmax(q @ q.mT, -1), q),
                       torch.softmax(q @ q.mT, -1)[0]),
            "transposed": (lambda: x.mT @ torch.softmax(x @ x.mT, -1).mT, weights),
            "masked after": (lambda: torch.softmax(x @ x.mT, -1).masked_fill(torch.eye(6, dtype=torch.bool), 0) @ x,
                             weights.masked_fill(torch.eye(6, dtype=torch.bool), 0)),
            "operations": (lambda: torch.ops.aten._softmax(x @ x.mT, -1, False) @ x, weights),
        }
        for name, (run, expected) in forms.items():
            for around, inference in ((False, False), (True, False), (True, True)):
                with self.subTest(form=name, module=around, inference=inference), torch.inference_mode(inference):
                    layer = self.module(lambda layer, x: run(), "Layer")
                    content = self.record((lambda: layer(x)) if around else run, "weights alone are recorded")
                    (array,) = content.arrays.values()
                    self.assertEqual(array.shape, tuple(expected.shape))
                    self.assertLess(abs(array - expected.numpy()).max(), 1e-6)  # float32 numbers of at most 1

    def test_heads_in_the_axis_of_the_batch(self):
        torch = self.torch
        q = torch.randn(6, 5, 8)
        hand = self.module(lambda layer, q: torch.bmm(torch.softmax(torch.bmm(q, q.mT), -1), q), "Attention", n_head=3)
        self.record(lambda: hand(q), "weights alone")
        self.assertEqual(self.recording.calls, ["Attention.batch0", "Attention.batch1"])

    def test_heads_that_are_mixed(self):
        """As in CaiT: the weights are those that values are multiplied with."""
        torch = self.torch
        q = torch.randn(1, 2, 6, 8)

        def forward(layer, q):
            weights = torch.softmax(q @ q.mT, -1)
            layer.mixed = layer.mix(weights.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
            return layer.mixed @ q

        for inference in (False, True):
            with torch.inference_mode(inference):
                hand = self.module(forward, "Attention", mix=torch.nn.Linear(2, 2), num_heads=2)
                content = self.record(lambda: hand(q), "weights alone")
                self.assertTrue((content.arrays["Attention.attention"] == hand.mixed[0].detach().numpy()).all())

    def test_pieces_of_an_attention_are_left_out_together(self):
        torch = self.torch

        def forward(layer, x):
            first = torch.softmax(x[:, :2] @ x.mT, -1) @ x
            blocks = x.view(1, 1, 3, 2, 8)
            rest = torch.softmax(blocks @ blocks.mT, -1) @ blocks
            return first, rest

        self.nothing(lambda: self.module(forward, "Attention", num_heads=1)(self.x),
                     r"it computes weights in pieces, \[1, 1, 3, 2, 2\]")

    def test_what_is_no_attention(self):
        torch = self.torch
        experts = torch.randn(3, 8, 8)

        def router(layer, x):
            gates = torch.softmax(x @ torch.randn(8, 3), -1)
            return torch.einsum("bne,edf,bnd->bnf", gates, experts, x)

        def classes(layer, x):
            return layer.linear(torch.softmax(layer.linear(x), -1))

        def streams(layer, x):
            mixed = torch.softmax(torch.randn(1, 6, 4, 4), -1)
            return (mixed @ x[:, :, None].expand(-1, -1, 4, -1)).sum(2)

        for forward in (router, classes, streams):
            model = torch.nn.Sequential(self.layer(), self.module(forward, "Attentive", linear=torch.nn.Linear(8, 8)))
            for inference in (False, True):
                with torch.inference_mode(inference):
                    self.record(lambda: model(self.x))
                self.assertEqual(self.recording.calls, ["0"])

    def test_experts_as_many_as_tokens(self):
        """Each query has values of its own: that is no attention, however long the axes are."""
        torch = self.torch
        x = torch.randn(2, 4, 8)
        experts = torch.randn(2, 4, 4, 8)
        forms = (lambda gates: torch.einsum("bne,bned->bnd", gates, experts),
                 lambda gates: (gates[:, :, None] @ experts).squeeze(2),
                 lambda gates: gates @ torch.randn(4))
        for form in forms:
            model = torch.nn.Sequential(self.layer(), self.module(lambda layer, x: form(torch.softmax(x[..., :4], -1))))
            for inference in (False, True):
                with torch.inference_mode(inference):
                    self.record(lambda: model(x))
                self.assertEqual(self.recording.calls, ["0"])

    def test_values_of_relative_positions_come_first(self):
        torch = self.torch
        values = torch.randn(6, 6, 8)

        def forward(layer, x):
            weights = torch.softmax(x @ x.mT, -1)
            return torch.einsum("bqk,qkd->bqd", weights, values) + weights @ x

        for inference in (False, True):
            with torch.inference_mode(inference):
                self.record(lambda: self.module(forward, "Attention")(self.x), "weights alone")
                self.assertEqual(self.recording.calls, ["Attention"])

    def test_inputs_by_keyword(self):
        """Numbers of tokens are those of whatever the modules inside are called with."""
        torch = self.torch
        mix = self.module(lambda layer, x: torch.softmax(layer.q(x) @ x.mT, -1) @ x, "Mix", q=torch.nn.Linear(8, 8))
        model = self.module(lambda layer, *, x: layer.mix(x), "Around", mix=mix)
        self.record(lambda: model(x=self.x), "weights alone")
        self.assertEqual(self.recording.calls, ["mix"])

    def test_weights_that_the_model_changes_later(self):
        torch = self.torch

        def forward(layer, x):
            weights = torch.softmax(x @ x.mT, -1)
            output = weights @ x
            weights.zero_()
            return output

        content = self.record(lambda: self.module(forward, "Attention")(self.x), "weights alone")
        self.assertTrue((content.arrays["Attention.attention"] == torch.softmax(self.x @ self.x.mT, -1).numpy()).all())

    def test_softmaxes_that_are_no_weights_are_let_go(self):
        """When the module around theirs has returned, to which they may have been given."""
        import gc
        import weakref

        torch = self.torch
        kept = []

        def router(layer, x):
            gates = torch.softmax(x, -1)
            kept.append(weakref.ref(gates.untyped_storage()))
            return gates.sum()

        def block(layer, x):
            return layer.router(x)

        def forward(model, x):
            for layer in model.blocks:
                layer(x)
            gc.collect()
            alive.append(sum(each() is not None for each in kept))

        alive = []
        blocks = [self.module(block, router=self.module(router)) for _ in range(4)]
        model = self.module(forward, blocks=torch.nn.ModuleList(blocks))
        self.record(lambda: (self.layer()(self.x), model(self.x)))
        self.assertEqual(alive, [0])

    def test_parameters_that_are_replaced(self):
        """The addresses of those that have ended are soon those of other tensors."""
        torch = self.torch

        def forward(layer, x):
            q = layer.q(x)
            return torch.softmax(q @ q.mT, -1) @ q

        def replaced():
            for _ in range(3):
                model(self.x)
                model.load_state_dict({name: each.clone() for name, each in model.state_dict().items()}, assign=True)
            for layer in model:
                layer.q = torch.nn.Linear(8, 8)
            model(self.x)

        model = torch.nn.Sequential(*(self.module(forward, "Hand", q=torch.nn.Linear(8, 8)) for _ in range(24)))
        self.record(replaced, "weights alone")
        self.assertEqual(len(self.recording.calls), 4 * 24)

    def test_models_that_end(self):
        """They are not kept, and a model at the address of another does not have its names."""
        import gc
        import weakref

        torch = self.torch

        def run():
            for n in range(10):
                model = torch.nn.Sequential(*(n % 3) * [torch.nn.Identity()], self.layer())
                model(self.x)
                ended.append(weakref.ref(model))
                del model
            gc.collect()
            self.assertEqual([each() for each in ended], 10 * [None])

        ended = []
        self.record(run)
        self.assertEqual({name.split(".")[0] for name in self.recording.calls}, {"0", "1", "2"})
        self.assertEqual(len(self.recording.calls), 10)

    def test_operations_of_operations(self):
        torch = self.torch
        if not hasattr(torch.library, "custom_op"):
            self.skipTest("this PyTorch has no custom operations in Python")

        def of_function(x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.scaled_dot_product_attention(x, x, x)

        def by_hand(x: torch.Tensor) -> torch.Tensor:
            return torch.softmax(x @ x.mT, -1) @ x

        for inside, says in ((of_function, "^$"), (by_hand, "weights alone")):
            custom = torch.library.custom_op(f"fovea_tests::{inside.__name__}", mutates_args=())(inside)
            conditional = lambda x: torch.cond(torch.tensor(True), inside, lambda x: x.clone(), (x,))
            for outside in (custom, conditional):
                model = self.module(lambda layer, x: outside(x), "Layer")
                with self.subTest(inside=inside.__name__, custom=outside is custom):
                    plain = model(self.x)
                    self.record(lambda: model(self.x), says)
                    self.assertTrue(torch.equal(plain, self.result))
                    self.assertEqual(self.recording.calls, ["Layer"])

    def test_a_backward_pass_is_no_step(self):
        from torch.utils.checkpoint import checkpoint

        torch = self.torch
        for reentrant in (False, True):
            def forward(model, x):
                for layer in model.layers:
                    x = checkpoint(layer, x, use_reentrant=reentrant)
                return x

            model = self.module(forward, layers=torch.nn.ModuleList([self.layer(), self.layer()]))

            def run():
                for _ in range(2):
                    model(x).sum().backward()
                return x.grad.clone()

            with torch.enable_grad():
                x = self.x.clone().requires_grad_()
                plain = run()
                x.grad = None
                self.record(run)
            self.assertTrue(torch.equal(plain, self.result))
            self.assertEqual(self.recording.calls, ["layers.0", "layers.1", "layers.0.step1", "layers.1.step1"])

    def test_traced_and_exported(self):
        torch = self.torch

        def hand(layer, q):
            return torch.softmax(q @ q.mT, -1) @ q

        def fused(layer, q):
            return self.attend(q, q, q)

        q = torch.randn(1, 2, 6, 8)
        for make in (lambda m: torch.jit.trace(m, q), lambda m: torch.export.export(m, (q,)).module()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                by_hand, beneath = make(self.module(hand)), make(self.module(fused))
            self.record(lambda: by_hand(q), "weights alone")
            seen = self.torch.nn.Sequential(self.layer())
            self.record(lambda: (seen(q), beneath(q)), r"Left out: .* computes? attention with aten._scaled_dot_product"
                                                       r".*beneath PyTorch's functions, as traced")

    def test_operations_of_torch(self):
        attend = self.torch.ops.aten.scaled_dot_product_attention
        q = self.torch.randn(1, 2, 6, 8)
        self.record(lambda: (self.layer()(q), attend(q, q, q)),
                    r"Left out: code outside any module computes attention with aten._scaled_dot_product_\w+")
        self.nothing(lambda: attend(q, q, q), "outside any module computes attention with aten._scaled")

    def test_flex(self):
        try:
            from torch.nn.attention.flex_attention import flex_attention
        except ImportError:
            self.skipTest("this PyTorch has no flex_attention")
        flex = self.module(lambda layer, x: flex_attention(x, x, x), "Flex")
        model = self.torch.nn.Sequential(self.layer(), flex)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            self.record(lambda: model(self.torch.randn(1, 2, 16, 8)),
                        r"Left out: 1 \(Flex\) computes attention with flex_attention, which cannot be recorded")
        self.assertEqual(self.recording.calls, ["0"])

    # nn.MultiheadAttention.

    def test_multihead_attention_with_weights(self):
        torch = self.torch
        layer = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()
        plain = layer(self.x, self.x, self.x)
        content = self.record(lambda: layer(self.x, self.x, self.x))
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(plain, self.result)))
        self.assertEqual(self.recording.calls, ["MultiheadAttention"])
        q, k = (torch.tensor(content.arrays[f"MultiheadAttention.{name}"]) for name in "qk")
        weights = torch.softmax(q @ k.mT / 2, -1).mean(0)
        self.assertLess((weights - plain[1][0]).abs().max(), 1e-6)  # float32 numbers of at most 1

    def test_multihead_attention_in_training(self):
        """The second call draws no random number, and leaves gradients and the user's output alone."""
        torch = self.torch
        layer = torch.nn.MultiheadAttention(8, 2, dropout=0.5, batch_first=True).train()
        results = []
        for watched in (False, True):
            torch.manual_seed(3)
            layer.zero_grad()
            with torch.enable_grad():
                def run():
                    output, weights = layer(self.x, self.x, self.x, attn_mask=torch.zeros(6, 6))
                    output.sum().backward()
                    return output, weights, torch.rand(3), layer.in_proj_weight.grad.clone()

                if watched:
                    content = self.record(run, "^MultiheadAttention: the model drops weights at random")
                    results.append(self.result)
                else:
                    results.append(run())
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(*results)))
        self.assertNotIn("MultiheadAttention.z", content.arrays)
        content = self.record(lambda: (layer(self.x, self.x, self.x), self.attend(self.x, self.x, self.x)), "at random")
        self.assertIn("attention.z", content.arrays)

    # Masks of torch.nn.attention.bias.

    def test_causal_biases(self):
        try:
            from torch.nn.attention.bias import causal_lower_right, causal_upper_left
        except ImportError:
            self.skipTest("this PyTorch has no causal biases")
        import check_captures

        q, k, v = (self.torch.randn(1, 2, n, 8) for n in (5, 9, 9))
        for queries, keys in ((5, 9), (9, 9)):
            for make in (causal_upper_left, causal_lower_right):
                with self.subTest(make=make.__name__, queries=queries):
                    q = self.torch.randn(1, 2, queries, 8)
                    plain = self.attend(q, k, v, attn_mask=make(queries, keys))
                    content = self.record(lambda: self.attend(q, k, v, attn_mask=make(queries, keys)))
                    self.assertTrue(self.torch.equal(plain, self.result))
                    lines, good = check_captures.check(self.path())
                    self.assertTrue(good, "\n".join(lines))
                    self.assertNotIn("attention.bias", content.arrays)
                    first = make is causal_upper_left and queries < keys
                    self.assertEqual(content.metadata["causal"], "false" if first else "true")
                    self.assertEqual("attention.mask" in content.arrays, first)

    def test_kinds_of_tensors_can_be_made(self):
        torch = self.torch

        class Kind(torch.Tensor):
            pass

        def run():
            self.layer()(self.x)
            return torch.randn(3).as_subclass(Kind), torch.nn.Parameter(torch.randn(3)), torch.nn.Linear(3, 3)

        self.record(run)

    def test_a_mask_without_numbers(self):
        torch = self.torch

        class Hidden(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                if "scaled_dot_product" in str(function):
                    kwargs = {**(kwargs or {}), "attn_mask": None}
                return super().__torch_function__(function, types, args, kwargs)

        mask = torch.empty(6, 6).as_subclass(Hidden)
        self.nothing(lambda: self.attend(self.x, self.x, self.x, attn_mask=mask), "its mask is a Hidden, whose numbers")

    # Faults of a recording are no faults of the run.

    def test_what_cannot_be_recorded_is_left_out(self):
        torch = self.torch
        good = torch.nn.Sequential(self.layer())
        x = torch.randn(2, 2, 6, 8)

        def nested():
            q = torch.nested.nested_tensor([torch.randn(4, 2, 8), torch.randn(6, 2, 8)], layout=torch.jagged)
            return self.attend(*3 * [q.transpose(1, 2)])

        cases = {
            "its tensors are nested": nested,
            "it runs inside torch.func": lambda: torch.vmap(lambda q: self.attend(q, q, q))(x),
            "it has no queries or no keys": lambda: self.attend(x[:, :, :0], x, x),
            "device meta": lambda: self.attend(*3 * [x.to("meta")]),
            "scale is 0; expected a number above 0": lambda: self.attend(x, x, x, scale=0.0),
        }
        for message, run in cases.items():
            with self.subTest(message):
                run()
                self.record(lambda: (good(self.x), run()), f"Left out: .*{message}")
                self.assertEqual(self.recording.calls, ["0"])
                self.nothing(run, message)

    def test_a_run_that_is_interrupted(self):
        """PyTorch calls no hook after Ctrl+C; the next call is a call of the model all the same."""
        def forward(layer, x, interrupts):
            layer.inner(x)
            if interrupts:
                raise interrupts
            return layer.inner(x)

        model = self.module(forward, inner=self.layer())

        def run():
            for error in (KeyboardInterrupt, ValueError):
                with self.assertRaises(error):
                    model(self.x, error)
            model(self.x, None)
            self.layer()(self.x)

        self.record(run)
        self.assertEqual(self.recording.calls, ["inner", "inner.step1", "inner.step2", "inner.step2.call1", "Watched"])

    def test_inputs_without_a_shape(self):
        torch = self.torch
        parts = [torch.randn(3, 8), torch.randn(4, 8)]
        model = self.module(lambda layer, given: self.layer()(self.x))
        odd = type("Odd", (), {"shape": None})(), type("Odd", (), {"shape": (None, 3)})()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            nested = [torch.nested.nested_tensor(parts, layout=layout) for layout in (torch.strided, torch.jagged)]
        for given in (*nested, *odd):
            self.record(lambda: model(given))

    def test_modules_without_a_hash(self):
        """Such as dataclasses: PyTorch can call them, but cannot list their parts."""
        inner = self.module(lambda layer, x: self.layer()(x))
        type(inner).__hash__ = None
        self.record(lambda: inner(self.x))
        outer = self.module(lambda layer, x: layer.inner(x), inner=inner)
        self.record(lambda: outer(self.x), "Left out: Layer cannot be recorded: TypeError: unhashable type")
        self.assertEqual(self.recording.calls, ["Watched"])

    def test_a_header_that_is_full(self):
        """Earlier calls keep what they have, and the file can be read."""
        from unittest import mock

        layer = self.layer()
        tokens = [f"token {i}" for i in range(6)]

        def run():
            for _ in range(20):
                layer(self.x)

        self.record(run, tokens=tokens)
        whole = self.recording._file.header_length + self.recording._said
        with mock.patch("fovea.recording.ROOM_OF_CALL", 700):
            with mock.patch("fovea.recording.LONGEST_HEADER", 700 + whole // 2):
                self.record(run, "Watched cannot be recorded: the file has 1. calls, and its header has no room for "
                                 "more: record some with steps= and layers=", tokens=tokens)
                self.assertIn(len(self.recording.calls), (10, 11))

    def test_tokens_for_which_the_header_has_no_room(self):
        from unittest import mock

        layer = self.module(lambda layer, q, k: self.attend(q, k, k), "Watched")
        keys = self.torch.randn(1, 40, 8)

        def run():
            for n in range(4, 41):
                layer(keys[:, :4] if n == 4 else keys[:, :1], keys[:, :n])
            self.recording.tokens = [f"token {i}" for i in range(40)]

        content = self.record(run)
        whole = self.recording._file.header_length + self.recording._said
        with mock.patch("fovea.recording.LONGEST_HEADER", whole + 1000), mock.patch("fovea.recording.ROOM_OF_CALL", 0):
            cut = self.record(run, r"no room for all tokens: Watched.step\d and the calls after it are without them")
        self.assertEqual(sorted(content.arrays), sorted(cut.arrays))
        self.assertIn("Watched.step1.key_tokens", cut.metadata)
        self.assertNotIn("Watched.step36.key_tokens", cut.metadata)
        self.assertIn("Watched.step36.key_tokens", content.metadata)

    def test_heads_that_some_layers_lack(self):
        model = self.torch.nn.Module()
        model.few = self.layer()
        model.many = self.layer()
        model.forward = lambda: (model.few(self.torch.randn(1, 2, 6, 8)), model.many(self.torch.randn(1, 4, 6, 8)))
        self.record(lambda: model(), r"few \(Watched\) cannot be recorded: heads has 3; few has the heads 0 to 1",
                    heads=[3])
        self.assertEqual(self.recording.calls, ["many"])

    def test_a_fault_of_the_recorder(self):
        from unittest import mock

        import fovea.recording

        with mock.patch.object(fovea.recording, "difference", side_effect=RuntimeError("broken")):
            self.record(lambda: self.layer()(self.x), "Left out: Watched cannot be recorded: RuntimeError: broken")

    def test_a_full_disk(self):
        from unittest import mock

        import fovea.writer

        class Full(fovea.writer.AtomicFile):
            """On a disk that is full for a moment, in the middle of a tensor, and has room again."""

            def __init__(file, path):
                super().__init__(path)
                real = file.file
                file.file = mock.Mock(wraps=real)
                tensors = iter(range(100))

                def write(data):
                    if next(tensors) == 5:
                        real.write(data[:40])
                        raise OSError(28, "No space left")
                    return real.write(data)

                file.file.write = write

        layer = self.layer()
        for before in (None, b"before"):
            with mock.patch.object(fovea.writer, "AtomicFile", Full):
                self.nothing(lambda: [layer(self.x) for _ in range(4)], "the file cannot be written: .*No space left")
            self.assertEqual(self.path().read_bytes() if before else self.files(), before or [])
            self.path().write_bytes(b"before")

    # The comparison with the model's output.

    def test_a_wrong_head_of_a_later_step_is_noticed(self):
        from unittest import mock

        import fovea.seen

        made = fovea.seen.of_sdpa
        calls = []

        def wrong(*given):
            seen = made(*given)
            calls.append(seen)
            if len(calls) == 3:
                seen.z = seen.z.clone()
                seen.z[:] += 0.01
            return seen

        layer = self.layer()
        with mock.patch("fovea.watch.of_sdpa", wrong):
            self.record(lambda: [layer(self.x) for _ in range(4)], "^Watched.step2: the output computed from what was")

    def test_every_head_is_drawn(self):
        from unittest import mock

        heads = set()
        with mock.patch("fovea.recording.difference", lambda call, head, short: heads.add(head)):
            layer = self.layer()
            x = self.torch.randn(1, 3, 6, 8)
            self.record(lambda: [layer(x) for _ in range(20)])  # the numbers are the same in every recording
        self.assertEqual(heads, {0, 1, 2})


if __name__ == "__main__":
    unittest.main()
