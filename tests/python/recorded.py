"""What the tests of recordings share."""
import warnings

from package import InFolder


class Recorded(InFolder):
    """A test that records modules of its own; it needs NumPy and PyTorch."""

    def setUp(self):
        super().setUp()
        import torch

        import fovea

        self.torch, self.fovea = torch, fovea
        self.attend = torch.nn.functional.scaled_dot_product_attention
        torch.manual_seed(0)
        self.x = 2 * torch.randn(1, 6, 8)
        grad = torch.no_grad()
        grad.__enter__()
        self.addCleanup(grad.__exit__, None, None, None)

    def module(self, forward, name="Layer", **attributes):
        layer = type(name, (self.torch.nn.Module,), {"forward": forward})()
        for key, value in attributes.items():
            setattr(layer, key, value)
        return layer

    def layer(self):
        """One that is watched."""
        return self.module(lambda layer, x: self.torch.nn.functional.scaled_dot_product_attention(x, x, x), "Watched")

    def record(self, run, says="^$", **more):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", self.fovea.FoveaWarning)
            with self.fovea.record(self.path(), **more) as self.recording:
                self.result = run()
        said = "\n".join(str(w.message) for w in caught if issubclass(w.category, self.fovea.FoveaWarning))
        self.assertRegex(said, says)
        return self.fovea.read(self.path())

    def nothing(self, run, says, **more):
        """Of which nothing can be recorded; the run ends by itself."""
        ended = []
        with self.assertRaisesRegex(self.fovea.FoveaError, says):
            with self.fovea.record(self.path(), **more):
                run()
                ended.append(True)
        self.assertEqual(ended, [True])
