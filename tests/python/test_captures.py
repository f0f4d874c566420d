"""The recorded files under tests/captures: what they say explains the model's outputs, and nothing less does."""
import pathlib
import tempfile
import unittest

from package import ROOT, needs

FOLDER = ROOT / "tests" / "captures"
NAMES = ("bert_padded", "bloom", "deepseek_v4", "gemma2", "gpt_oss", "kimi_linear", "llama", "mamba2", "masks", "mistral",
         "qwen3_next", "t5", "vit", "whisper_cross")
CONDITIONS = {
    "bert_padded": ["mask"], "bloom": ["alibi", "causal"], "gemma2": ["softcap", "window", "causal", "scale"],
    "deepseek_v4": ["k_extra", "extra_indices", "sinks", "window", "causal"],
    "gpt_oss": ["sinks", "window", "causal"], "llama": ["causal"], "masks": ["mask", "bias", "scale"],
    "mistral": ["window", "causal"], "qwen3_next": ["recurrence", "beta", "log_decay", "causal"],
    "kimi_linear": ["recurrence", "beta", "log_decay"], "mamba2": ["recurrence", "log_decay", "scale"],
    "t5": ["bias", "causal", "scale"], "vit": [], "whisper_cross": ["scale"],
}


@needs("numpy")
class Captures(unittest.TestCase):
    def test_all_are_there(self):
        self.assertEqual(sorted(path.stem for path in FOLDER.glob("*.safetensors")), sorted(NAMES))

    def test_outputs_are_explained(self):
        import check_captures

        for name in NAMES:
            lines, good = check_captures.check(FOLDER / f"{name}.safetensors")
            self.assertTrue(good, "\n".join(lines))

    def test_every_condition_matters(self):
        """Without one of its conditions, some call of a file is wrong."""
        import check_captures

        for name, conditions in CONDITIONS.items():
            for condition in [*conditions, "the order of keys"]:
                arrays, types, metadata = check_captures.read(FOLDER / f"{name}.safetensors")
                metadata = {k: v for k, v in metadata.items() if k.split(".")[-1] != condition}
                arrays = {k: v[:, ::-1] if condition == "the order of keys" and k.endswith(".k") else v
                          for k, v in arrays.items() if k.split(".")[-1] != condition}
                with tempfile.TemporaryDirectory() as folder:
                    path = pathlib.Path(folder) / f"{name}-without-{condition}"
                    lines, good = self.check(check_captures, path, arrays, types, metadata)
                self.assertFalse(good, f"{name} is explained without {condition}:\n" + "\n".join(lines))

    @needs("torch", "transformers")
    def test_they_can_be_made_again(self):
        """As far as rounding on this machine allows: the same tensors and conditions, and true outputs."""
        import check_captures
        import make_captures
        import transformers

        if int(transformers.__version__.split(".")[0]) < 5:
            self.skipTest("T5 can be seen since transformers 5")
        with tempfile.TemporaryDirectory() as folder:
            for capture in make_captures.CAPTURES:
                path = pathlib.Path(folder) / f"{capture.__name__}.safetensors"
                with make_captures.torch.no_grad():
                    capture(path)
                lines, good = check_captures.check(path)
                self.assertTrue(good, "\n".join(lines))
                new, old = (check_captures.read(where / path.name) for where in (path.parent, FOLDER))
                for each in (new, old):
                    each[2].pop("layout", None)  # which the older of these files do not say
                self.assertEqual(new[1:], old[1:], path.name)
                self.assertEqual({name: array.shape for name, array in new[0].items()},
                                 {name: array.shape for name, array in old[0].items()})

    @staticmethod
    def check(module, path, arrays, types, metadata):
        original = module.read
        module.read = lambda _: (arrays, types, metadata)
        try:
            return module.check(path)
        finally:
            module.read = original


if __name__ == "__main__":
    unittest.main()
