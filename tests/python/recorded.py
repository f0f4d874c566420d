"""What the tests of recordings share."""
import warnings

from package import InFolder

SMALL = dict(vocab_size=40, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4)


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
        home = {"forward": forward, "__module__": forward.__module__}
        layer = type(name, (self.torch.nn.Module,), home)()
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


class Checked(InFolder):
    """A test that records, and computes the outputs again; its setUp has self.fovea and self.captures."""

    def record(self, run, warns="", **more):
        """The content of the recording, after the outputs were computed again; the warnings must fit."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", self.fovea.FoveaWarning)
            with self.fovea.record(self.path(), **more) as self.recording:
                self.result = run()
        said = "\n".join(str(w.message) for w in caught if issubclass(w.category, self.fovea.FoveaWarning))
        self.assertRegex(said, warns or "^$")
        if not warns and more.get("outputs", True):
            lines, good = self.captures.check(self.path())
            self.assertTrue(good, "\n".join(lines))
        self.assertEqual(self.files(), ["run.safetensors"])
        return self.fovea.read(self.path())


class OfTransformers(Checked):
    """A test that records models of transformers; it needs NumPy, PyTorch and transformers."""

    def setUp(self):
        super().setUp()
        import check_captures
        import torch
        import transformers

        import fovea

        transformers.logging.set_verbosity_error()
        self.torch, self.transformers, self.fovea, self.captures = torch, transformers, fovea, check_captures
        torch.manual_seed(0)
        self.ids = torch.randint(3, 40, (1, 9))
        self.pair = torch.randint(3, 40, (2, 9))
        self.left = torch.ones(2, 9, dtype=torch.long)
        self.left[0, :3] = 0
        grad = torch.no_grad()
        grad.__enter__()
        self.addCleanup(grad.__exit__, None, None, None)

    def model(self, name, config="", implementation=None, **sizes):
        kind = getattr(self.transformers, name)
        sizes = sizes or SMALL
        config = getattr(self.transformers, config or name.replace("Model", "").replace("ForCausalLM", "") + "Config")
        more = {"attn_implementation": implementation} if implementation else {}
        model = kind._from_config(config(**sizes), **more).eval()
        for parameter in model.parameters():
            if parameter.ndim == 2:
                parameter.normal_(0, 0.3)
        return model

    def need_5(self):
        if int(self.transformers.__version__.split(".")[0]) < 5:
            self.skipTest("T5 can be seen since transformers 5")

    def llama(self, implementation=None, **more):
        return self.model("LlamaModel", implementation=implementation, **{**SMALL, "num_key_value_heads": 2, **more})

    def parts(self, content, last):
        return {name: list(array.shape) for name, array in content.arrays.items() if name.endswith("." + last)}
