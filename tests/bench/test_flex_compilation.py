"""How FlexAttention is compiled, without PyTorch: modules that note how they are called take its place."""

import importlib
import sys
import types
import unittest
from unittest import mock


class Notes(types.ModuleType):
    """A module in which everything else is a stand-in."""

    def __getattr__(self, name):
        return mock.MagicMock()


class Compilation(unittest.TestCase):
    def setUp(self):
        self.calls, self.masks = [], []
        names = ("torch", "torch.nn", "torch.nn.attention", "torch.nn.functional", "torch.nn.attention.flex_attention")
        modules = {name: Notes(name) for name in names}
        torch, flex = modules["torch"], modules["torch.nn.attention.flex_attention"]
        torch._dynamo = types.SimpleNamespace(reset=lambda: self.calls.append("reset"))
        torch.compile = self.compile
        flex.create_block_mask = lambda kept, *sizes, **where: self.masks.append(kept)
        flex.flex_attention = lambda q, k, v, block_mask: "z"
        patch = mock.patch.dict(sys.modules, modules)
        patch.start()
        self.addCleanup(patch.stop)
        sys.modules.pop("torch_attention", None)
        self.module = importlib.import_module("torch_attention")
        self.addCleanup(sys.modules.pop, "torch_attention", None)

    def compile(self, function, **options):
        self.calls.append(options)
        return function

    def test_nothing_runs_uncompiled_and_every_group_begins_anew(self):
        whole = {"fullgraph": True, "dynamic": False}  # a graph for each shape, or an error
        for _ in range(2):
            self.calls.clear()
            self.module.flex("cuda")
            self.assertEqual(self.calls, ["reset", whole, whole])

    def test_a_mask_that_is_made_again_is_not_compiled_again(self):
        _, prepare = self.module.flex("cuda")
        make = prepare(self.module.strided_pairs)
        for n, causal in ((64, False), (64, False), (64, True), (128, False), (64, True)):
            make(n, causal)
        first, again, causal, longer, causal_again = self.masks
        self.assertIs(first, again)
        self.assertIs(causal, causal_again)
        self.assertEqual(len({first, causal, longer}), 3)

    def test_exact_attention_without_a_mask_needs_none(self):
        _, prepare = self.module.flex("cuda")
        self.assertIsNone(prepare(self.module.every_pair)(64, False))
        self.assertEqual(self.masks, [])


if __name__ == "__main__":
    unittest.main()
