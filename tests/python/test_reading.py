"""What a worker computes of models of transformers: the heads that `record` has, with tokens, patches and notes."""
import json
import threading
import unittest

from package import PROGRAM, InFolder, needs

from fovea.errors import FoveaError
from fovea.reading import ReadingModel, Request

SMALL = dict(hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4)
WORDS = ["[UNK]", "[CLS]", "[SEP]", "the", "cat", "sat", "on", "mat"]


@needs("numpy", "torch", "transformers")
class Reading(InFolder):
    def setUp(self):
        super().setUp()
        import torch
        import transformers

        self.torch, self.transformers = torch, transformers
        torch.manual_seed(0)

    def tokenizer(self):
        from tokenizers import Tokenizer, models, pre_tokenizers

        made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, "[UNK]"))
        made.pre_tokenizer = pre_tokenizers.Whitespace()
        return self.transformers.PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]")

    def llama(self, kind="LlamaForCausalLM", **more):
        config = self.transformers.LlamaConfig(vocab_size=len(WORDS), num_key_value_heads=2, **SMALL, **more)
        return getattr(self.transformers, kind)._from_config(config).eval()

    def vit(self):
        config = self.transformers.ViTConfig(image_size=32, patch_size=8, **SMALL)
        return self.transformers.ViTModel._from_config(config).eval()

    def test_heads_of_a_text_are_those_of_a_recording(self):
        import fovea

        model, tokenizer = self.llama(), self.tokenizer()
        heads = ReadingModel(model, tokenizer).heads(Request("the cat sat on the mat"))
        with fovea.record(self.path(), outputs=False), self.torch.no_grad():
            model(**tokenizer("the cat sat on the mat", return_tensors="pt"))
        recorded = fovea.read(self.path())
        self.assertEqual(set(heads.arrays), set(recorded.arrays))
        for name, array in heads.arrays.items():
            self.assertEqual(bytes(array.data), recorded.arrays[name].tobytes())
        self.assertEqual(json.loads(heads.metadata["tokens"]), ["the", "cat", "sat", "on", "the", "mat"])
        self.assertEqual(heads.metadata["causal"], "true")
        self.assertEqual(heads.notes, [])

    def test_a_long_text_is_cut_and_the_note_says_where(self):
        model = ReadingModel(self.llama(max_position_embeddings=4), self.tokenizer())
        self.assertEqual(model.description()["most_tokens"], 4)
        heads = model.heads(Request("the cat sat on the mat"))
        self.assertEqual(len(json.loads(heads.metadata["tokens"])), 4)
        self.assertEqual(heads.notes, ["the model reads the first 4 tokens: 8 characters of the text are left out (it has "
                                       "4 positions)"])
        self.assertIn("(the limit is 2 tokens)", model.heads(Request("the cat sat", max_tokens=2)).notes[0])
        self.assertEqual(len(json.loads(model.heads(Request("the " * 10**6)).metadata["tokens"])), 4)

    def test_an_empty_text_and_the_wrong_input_are_refused(self):
        import numpy

        text = ReadingModel(self.llama(), self.tokenizer())
        with self.assertRaisesRegex(FoveaError, "no token"):
            text.heads(Request(" \n"))
        with self.assertRaisesRegex(FoveaError, "is a model of texts"):
            text.heads(Request(picture=numpy.zeros((8, 8, 3), numpy.uint8)))
        images = ReadingModel(self.vit(), processor=self.processor())
        with self.assertRaisesRegex(FoveaError, "is a model of images"):
            images.heads(Request("a text"))

    def processor(self):
        return self.transformers.ViTImageProcessor(size={"height": 32, "width": 32})

    @needs("PIL")
    def test_patches_of_a_picture_are_a_grid_and_the_picture_is_what_the_model_sees(self):
        import numpy

        picture = numpy.zeros((64, 64, 3), numpy.uint8)
        picture[:32] = [200, 100, 0]
        heads = ReadingModel(self.vit(), processor=self.processor()).heads(Request(picture=picture))
        self.assertEqual(json.loads(heads.metadata["image"]), {"grid": [4, 4], "prefix": 1})
        self.assertEqual(heads.arrays["layer1.q"].shape, (4, 17, 8))
        seen = heads.arrays["picture"]
        self.assertEqual(seen.shape, (32, 32, 3))
        self.assertEqual(seen[4, 4].tolist(), [200, 100, 0])
        self.assertEqual(seen[-4, 4].tolist(), [0, 0, 0])

    def test_a_forward_pass_ends_between_two_modules_when_it_is_cancelled(self):
        class Enough(BaseException):
            pass

        model, shares = self.llama(), []

        def reached(share):
            shares.append(share)
            if len(shares) == 5:
                raise Enough

        reading = ReadingModel(model, self.tokenizer())
        with self.assertRaises(Enough):
            reading.heads(Request("the cat", reached=reached))
        self.assertEqual(len(shares), 5)
        self.assertFalse(any(module._forward_pre_hooks for module in model.modules()))
        self.assertEqual(len(reading.heads(Request("the cat")).arrays), 6)

    def test_another_thread_that_runs_the_model_is_neither_counted_nor_ended(self):
        model = self.llama()
        reading = ReadingModel(model, self.tokenizer())
        ids = self.tokenizer()("the cat", return_tensors="pt")["input_ids"]
        outcome, shares = [], []

        def other():
            with self.torch.no_grad():
                outcome.append(model(ids).logits.shape)

        def reached(share):
            shares.append(share)
            if len(shares) == 3:
                thread = threading.Thread(target=other)
                thread.start()
                thread.join()

        heads = reading.heads(Request("the cat sat", reached=reached))
        self.assertEqual(len(outcome), 1)
        self.assertEqual(len(heads.arrays), 6)  # of two layers, and nothing of the other thread
        self.assertEqual(heads.notes, [])
        self.assertLessEqual(len(shares), len(list(model.model.modules())))

    def test_a_model_without_visible_attention_says_what_to_do(self):
        class Silent(self.torch.nn.Module):
            def forward(self, input_ids, **_):
                return input_ids

        with self.assertRaisesRegex(FoveaError, "Nothing was recorded"):
            ReadingModel(Silent(), self.tokenizer()).heads(Request("the cat"))

    def test_load_reads_a_folder_and_refuses_pickles_and_code(self):
        from fovea.worker import load

        self.llama().save_pretrained(self.folder / "model")
        self.tokenizer().save_pretrained(self.folder / "model")
        model = load(str(self.folder / "model"), name="mine")
        self.assertEqual(model.description()["name"], "mine")
        self.assertEqual(model.description()["architecture"], "LlamaForCausalLM")
        self.assertEqual(len(model.heads(Request("the cat")).arrays), 6)
        (self.folder / "model" / "model.safetensors").rename(self.folder / "model" / "pytorch_model.bin")
        with self.assertRaisesRegex(FoveaError, "pytorch_model.bin, a pickle"):
            load(str(self.folder / "model"))
        (self.folder / "model" / "pytorch_model.bin").unlink()
        with self.assertRaisesRegex(FoveaError, "has no weights"):
            load(str(self.folder / "model"))
        (self.folder / "model" / "model.safetensors").write_bytes(b"cut off")
        with self.assertRaisesRegex(FoveaError, "cannot be loaded by transformers"):
            load(str(self.folder / "model"))
        config = json.loads((self.folder / "model" / "config.json").read_text())
        for change, words in (({"model_type": "unheard_of"}, "does not know this architecture"),
                              ({"model_type": "unheard_of", "auto_map": {"AutoConfig": "code.Config"}},
                               "--trust-remote-code")):
            (self.folder / "model" / "config.json").write_text(json.dumps({**config, **change}))
            with self.assertRaisesRegex(FoveaError, words):
                load(str(self.folder / "model"))

    @unittest.skipUnless(PROGRAM, "the program is not built")
    def test_the_program_computes_a_folder_through_this_python(self):
        import subprocess
        import sys

        self.llama().save_pretrained(self.folder / "tiny")
        self.tokenizer().save_pretrained(self.folder / "tiny")
        done = subprocess.run([PROGRAM, "info", str(self.folder / "tiny"), "--text", "the cat sat", "--python",
                               sys.executable], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("tiny: “the cat sat”", done.stdout)
        self.assertIn("2 key/value heads for 4 query heads", done.stdout)


if __name__ == "__main__":
    unittest.main()
