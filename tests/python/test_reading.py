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

    def given(self, model, request):
        """What came in parts, and the answer."""
        parts = []
        return parts, model.heads(request._replace(give=parts.append))

    def test_layers_that_are_given_one_by_one_are_those_of_the_whole(self):
        model = ReadingModel(self.llama(), self.tokenizer())
        whole = model.heads(Request("the cat sat"))
        parts, last = self.given(model, Request("the cat sat"))
        self.assertEqual([sorted(part.arrays) for part in parts],
                         [[f"layer{n}.{x}" for x in "kqv"] for n in range(2)])
        self.assertEqual(last.arrays, {})
        for part in parts:
            for name, array in part.arrays.items():
                self.assertEqual(bytes(array.data), bytes(whole.arrays[name].data))
        self.assertEqual(last.metadata, whole.metadata)
        self.assertEqual(json.loads(parts[0].metadata["tokens"]), ["the", "cat", "sat"])
        self.assertEqual(parts[0].metadata["layout"], "[H,n,d]")
        self.assertEqual(parts[1].metadata["layer1.causal"], "true")
        self.assertNotIn("layer1.tokens", parts[1].metadata)  # said once
        self.assertEqual(model.expected_layers(Request("the cat")), 2)

    def test_a_layer_is_given_before_the_next_one_runs(self):
        ran = []
        model = self.llama()
        for number, layer in enumerate(model.model.layers):
            layer.register_forward_pre_hook(lambda *_, number=number: ran.append(number))
        seen = []
        reading = ReadingModel(model, self.tokenizer())
        reading.heads(Request("the cat", give=lambda part: seen.append((sorted(part.arrays)[0], list(ran)))))
        self.assertEqual(seen, [("layer0.k", [0]), ("layer1.k", [0, 1])])

    def test_whoever_takes_a_layer_can_end_the_pass(self):
        class Enough(BaseException):
            pass

        def give(part):
            raise Enough

        model = ReadingModel(self.llama(), self.tokenizer())
        with self.assertRaises(Enough):
            model.heads(Request("the cat", give=give))
        self.assertEqual(len(model.heads(Request("the cat")).arrays), 6)  # nothing of it stays

    def test_chosen_heads_of_chosen_layers_are_given_alone(self):
        model = ReadingModel(self.llama(), self.tokenizer())
        parts, last = self.given(model, Request("the cat", layers=[1], heads=[0, 2]))
        self.assertEqual([part.arrays["layer1.q"].shape for part in parts], [(2, 2, 8)])
        self.assertEqual(last.arrays, {})

    def test_a_bias_that_layers_share_is_given_once(self):
        config = self.transformers.T5Config(vocab_size=len(WORDS), d_model=32, d_kv=8, d_ff=32, num_layers=3,
                                            num_heads=4)
        encoder = self.transformers.T5EncoderModel(config).eval()
        parts, last = self.given(ReadingModel(encoder, self.tokenizer()), Request("the cat sat"))
        names = [name for part in parts for name in part.arrays if name.endswith("bias")]
        first = parts[0].metadata.keys()
        self.assertEqual(len(names), 1, first)
        later = {name: known for part in parts for name, known in part.same.items()}
        self.assertEqual(set(later.values()), set(names))
        self.assertEqual(len(later), 2)

    def test_a_picture_is_given_with_its_first_layer(self):
        import numpy

        processor = self.transformers.ViTImageProcessor(size={"height": 32, "width": 32})
        parts, last = self.given(ReadingModel(self.vit(), processor=processor),
                                 Request(picture=numpy.zeros((40, 40, 3), numpy.uint8)))
        self.assertEqual(["picture" in part.arrays for part in parts], [True, False])
        self.assertNotIn("picture", last.arrays)
        for said in (parts[0].metadata, last.metadata):
            self.assertEqual(json.loads(said["image"]), {"grid": [4, 4], "prefix": 1})

    def bart(self, kind="BartForConditionalGeneration", **more):
        config = self.transformers.BartConfig(
            vocab_size=len(WORDS), d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
            decoder_attention_heads=4, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=40,
            pad_token_id=0, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2, **{"forced_eos_token_id": None, **more})
        return getattr(self.transformers, kind)(config).eval()

    def t5(self, kind="T5ForConditionalGeneration"):
        config = self.transformers.T5Config(vocab_size=len(WORDS), d_model=32, d_kv=8, d_ff=32, num_layers=2,
                                            num_heads=4, decoder_start_token_id=0, pad_token_id=0, eos_token_id=2)
        return getattr(self.transformers, kind)(config).eval()

    def tokens_of(self, heads, layer, which="tokens"):
        found = heads.metadata.get(f"{layer}.{which}", heads.metadata.get(which))
        return found and json.loads(found)

    def test_a_model_with_a_decoder_has_attention_of_three_kinds(self):
        text = ["the", "cat", "sat", "on", "the", "mat"]
        for model in (self.t5(), self.bart()):
            with self.subTest(type(model).__name__):
                heads = ReadingModel(model, self.tokenizer()).heads(Request(" ".join(text)))
                self.assertEqual({name[:-2] for name in heads.arrays if name.endswith(".q")},
                                 {f"{kind}.layer{n}" for kind in ("encoder", "decoder", "cross") for n in range(2)})
                written = self.tokens_of(heads, "decoder.layer0")
                n = len(written)
                self.assertEqual(heads.arrays["cross.layer1.q"].shape[1:], (n, 8))
                self.assertEqual(heads.arrays["cross.layer1.k"].shape[1:], (6, 8))
                self.assertEqual(self.tokens_of(heads, "cross.layer1"), written)
                self.assertEqual(self.tokens_of(heads, "cross.layer1", "key_tokens"), text)
                self.assertEqual(self.tokens_of(heads, "encoder.layer1"), text)
                self.assertIsNone(self.tokens_of(heads, "decoder.layer1", "key_tokens"))
                causal = {kind: heads.metadata[f"{kind}.layer0.causal"] for kind in ("encoder", "decoder", "cross")}
                self.assertEqual(causal, {"encoder": "false", "decoder": "true", "cross": "false"})

    def test_the_decoder_reads_what_the_model_writes_and_the_note_says_so(self):
        model, tokenizer = self.t5(), self.tokenizer()
        heads = ReadingModel(model, tokenizer).heads(Request("the cat sat"))
        written = model.generate(**tokenizer("the cat sat", return_tensors="pt"), max_new_tokens=32, do_sample=False,
                                 num_beams=1)[0].tolist()
        if written[-1] == 2:  # the end, after which nothing is written
            written.pop()
        self.assertEqual(self.tokens_of(heads, "decoder.layer0"), tokenizer.convert_ids_to_tokens(written))
        self.assertEqual(len(heads.notes), 1)
        self.assertRegex(heads.notes[0], '^the decoder reads what the model writes, ".*" \\((all of it|its first 32 '
                                         'tokens); the likeliest token each time\\)')

    def test_a_text_that_the_model_was_made_to_end_is_not_all_of_it(self):
        model, tokenizer = self.bart(forced_eos_token_id=2), self.tokenizer()
        model.lm_head.weight.data[2] = -10  # it never ends by itself
        model.final_logits_bias[0, 2] = -1e4
        heads = ReadingModel(model, tokenizer).heads(Request("the cat sat"))
        self.assertRegex(heads.notes[0], r'^the decoder reads what the model writes, ".*" \(its first 31 tokens; the ')
        self.assertEqual(len(self.tokens_of(heads, "decoder.layer0")), 32)

    def test_a_text_for_the_decoder_of_a_model_of_pictures_is_refused(self):
        import numpy

        processor = self.transformers.ViTImageProcessor(size={"height": 32, "width": 32})
        with self.assertRaisesRegex(FoveaError, "no decoder beside an encoder"):
            ReadingModel(self.vit(), processor=processor).heads(
                Request(picture=numpy.zeros((40, 40, 3), numpy.uint8), decoder_text="sat"))

    def test_a_text_can_be_given_to_the_decoder(self):
        reading = ReadingModel(self.t5(), self.tokenizer())
        heads = reading.heads(Request("the cat sat", decoder_text="on the mat"))
        self.assertEqual(self.tokens_of(heads, "decoder.layer0"), ["[UNK]", "on", "the", "mat"])
        self.assertEqual(heads.notes, [])
        heads = reading.heads(Request("the cat sat", decoder_text="on the mat", max_tokens=3))
        self.assertEqual(self.tokens_of(heads, "cross.layer0"), ["[UNK]", "on", "the"])
        self.assertEqual(heads.notes, ["the decoder reads the first 2 tokens of its text, which has 3"])
        with self.assertRaisesRegex(FoveaError, "no decoder beside an encoder"):
            ReadingModel(self.llama(), self.tokenizer()).heads(Request("the cat", decoder_text="sat"))

    def test_a_model_that_cannot_write_reads_the_text_twice(self):
        heads = ReadingModel(self.t5("T5Model"), self.tokenizer()).heads(Request("the cat sat"))
        self.assertEqual(self.tokens_of(heads, "decoder.layer0"), ["[UNK]", "the", "cat", "sat"])
        self.assertEqual(heads.notes, ["the decoder reads the same text, as the model cannot write one (it has no head "
                                       "that writes). The field Decoder, or --decoder-text, gives it another text"])

    def test_writing_can_be_cancelled(self):
        class Enough(BaseException):
            pass

        def reached(share):
            nonlocal left
            left -= 1
            if not left:
                raise Enough

        left = 50  # modules, of which one step of writing has more
        with self.assertRaises(Enough):
            ReadingModel(self.t5(), self.tokenizer()).heads(Request("the cat sat", reached=reached))

    def test_biases_of_both_stacks_are_given_once_each(self):
        parts, heads = self.given(ReadingModel(self.t5(), self.tokenizer()),
                                  Request("the cat sat", decoder_text="on the mat"))
        self.assertEqual(parts, [])  # the layers of the decoder take turns: their order is known at the end
        self.assertEqual(heads.same, {"encoder.layer1.bias": "encoder.layer0.bias",
                                      "decoder.layer1.bias": "decoder.layer0.bias"})
        self.assertNotIn("encoder.layer1.bias", heads.arrays)

    def test_a_model_of_sounds_says_what_to_do(self):
        config = self.transformers.WhisperConfig(
            vocab_size=len(WORDS), d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
            decoder_attention_heads=4, encoder_ffn_dim=32, decoder_ffn_dim=32, num_mel_bins=8, max_source_positions=20,
            max_target_positions=16, pad_token_id=0, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2)
        model = self.transformers.WhisperForConditionalGeneration(config).eval()
        with self.assertRaisesRegex(FoveaError, "model of sounds.*fovea.record"):
            ReadingModel(model, self.tokenizer())
        import fovea

        with fovea.record(self.path(), outputs=False), self.torch.no_grad():
            model(input_features=self.torch.zeros(1, 8, 40), decoder_input_ids=self.torch.tensor([[2, 3, 4]]))
        recorded = fovea.read(self.path())
        self.assertEqual(recorded.arrays["encoder.layer0.q"].shape, (4, 20, 8))
        self.assertEqual(recorded.arrays["cross.layer0.k"].shape, (4, 20, 8))
        self.assertEqual(recorded.arrays["cross.layer0.q"].shape, (4, 3, 8))
        self.assertEqual(recorded.arrays["decoder.layer0.q"].shape, (4, 3, 8))

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
