"""fovea.record beside modes of PyTorch that are the user's: neither counts or bends the work of the other."""
import unittest

from package import needs
from recorded import Recorded


@needs("numpy", "torch")
class Modes(Recorded):
    def setUp(self):
        super().setUp()
        fast = self.torch.backends.mha  # its fast path, which no recording takes, has other operations
        self.addCleanup(fast.set_fastpath_enabled, fast.get_fastpath_enabled())
        fast.set_fastpath_enabled(False)

    def by_hand(self):
        torch = self.torch
        return self.module(lambda layer, x: torch.softmax(x @ x.mT, -1) @ x, "Hand")

    def models(self):
        torch = self.torch
        attention = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()
        models = [lambda x: self.layer()(x), lambda x: attention(x, x, x), self.by_hand()]
        if hasattr(torch.library, "custom_op"):
            def inside(x: torch.Tensor) -> torch.Tensor:
                return torch.softmax(x @ x.mT, -1) @ x

            custom = torch.library.custom_op("fovea_tests::inside", mutates_args=())(inside)
            models.append(self.module(lambda layer, x: custom(x) + self.layer()(x), "Custom"))
        return models

    def test_counters_count_the_model_alone(self):
        from torch.utils.flop_counter import FlopCounterMode

        for model in self.models():
            counted = []

            def run():
                with FlopCounterMode(display=False) as counter:
                    model(self.x)
                counted.append(counter.get_total_flops())

            run()
            self.record(run, ".*")
            with FlopCounterMode(display=False) as around:
                self.record(lambda: model(self.x), ".*")
            self.assertEqual(counted, 2 * [around.get_total_flops()])

    def test_functions_and_operations_are_those_of_the_model(self):
        from torch.overrides import TorchFunctionMode
        from torch.utils._python_dispatch import TorchDispatchMode

        class Functions(TorchFunctionMode):
            def __torch_function__(mode, function, types, args=(), kwargs=None):
                seen.append(function)
                return function(*args, **(kwargs or {}))

        class Operations(TorchDispatchMode):
            def __torch_dispatch__(mode, function, types, args=(), kwargs=None):
                seen.append(function)
                return function(*args, **(kwargs or {}))

        for model in self.models():
            for mode in (Functions, Operations):
                def run():
                    with mode():
                        model(self.x)
                    result = list(seen)
                    seen.clear()
                    return result

                seen = []
                alone = run()
                self.record(run, ".*")
                self.assertEqual(self.result, alone)
                with mode():
                    self.record(lambda: model(self.x), ".*")
                self.assertEqual(seen, alone)

    def test_a_default_device(self):
        """It would make the recorder's own tensors, too, and hides a function inside that of MultiheadAttention."""
        torch = self.torch
        layer = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()
        q = self.x[:, :3]

        def run():
            layer(self.x, self.x, self.x, need_weights=False)
            with torch.device("meta"):
                layer(self.x, self.x, self.x)
                layer(self.x, self.x, self.x, need_weights=False)
                self.attend(q, self.x, self.x, is_causal=True)

        plain = self.record(run).arrays
        with torch.device("meta"):
            around = self.record(run).arrays
        self.assertEqual(sorted(plain), sorted(around))
        self.assertEqual(self.recording.calls, ["MultiheadAttention", "MultiheadAttention.step1",
                                                "MultiheadAttention.step2", "attention"])
        for name, array in plain.items():
            self.assertTrue((array == around[name]).all(), name)


if __name__ == "__main__":
    unittest.main()
