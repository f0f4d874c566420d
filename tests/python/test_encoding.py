"""Tokens of what tokenizers return."""
import unittest

from package import needs


class Slow:
    def convert_ids_to_tokens(self, ids):
        return [f"t{i}" for i in ids]


class One:
    tokens = ["a", "b"]


class Batch(dict):
    encodings = [One(), One()]

    def tokens(self, batch):
        return self.encodings[batch].tokens


class Encoding(unittest.TestCase):
    def test_tokens(self):
        from fovea import FoveaError, tokens_of

        self.assertEqual(tokens_of(One()), ["a", "b"])
        self.assertEqual(tokens_of(Batch(), batch=1), ["a", "b"])
        self.assertEqual(tokens_of({"input_ids": [[3, 4]]}, Slow()), ["t3", "t4"])
        self.assertEqual(tokens_of([3, 4], Slow()), ["t3", "t4"])
        self.assertEqual(tokens_of({"tokens": ["a"], "input_ids": [3]}), ["a"])
        with self.assertRaisesRegex(FoveaError, "pass the tokenizer"):
            tokens_of([3, 4])
        with self.assertRaisesRegex(FoveaError, "batch is 2; the encoding has 2 members"):
            tokens_of(Batch(), batch=2)
        with self.assertRaisesRegex(FoveaError, "has the entries words; expected input_ids or tokens"):
            tokens_of({"words": 3}, Slow())

    def test_tokens_given_to_a_recording(self):
        """An encoding is not a list of the names of what it holds."""
        from fovea import FoveaError
        from fovea.encoding import token_lists

        self.assertEqual(token_lists(Batch(), "tokens"), [["a", "b"], ["a", "b"]])
        self.assertEqual(token_lists([One(), One()], "tokens"), [["a", "b"], ["a", "b"]])
        self.assertEqual(token_lists(One(), "tokens"), [["a", "b"]])
        self.assertEqual(token_lists([["a"], ("b",)], "tokens"), [["a"], ["b"]])
        self.assertEqual(token_lists(("a", "b"), "tokens"), [["a", "b"]])
        self.assertIsNone(token_lists(None, "tokens"))
        for given, words in (({"input_ids": [3]}, "key_tokens has ids alone: pass .*, key_tokens=fovea.tokens_of"),
                             (Slow(), "key_tokens is a tokenizer"), ("ab", "key_tokens is one string"),
                             (3, "key_tokens is of the type int")):
            with self.assertRaisesRegex(FoveaError, words):
                token_lists(given, "key_tokens")

    @needs("tokenizers", "transformers")
    def test_real_tokenizers(self):
        from tokenizers import Tokenizer, models, pre_tokenizers
        from transformers import PreTrainedTokenizerFast

        from fovea import tokens_of
        from fovea.encoding import token_lists

        plain = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "b": 2, "[PAD]": 3}, "[UNK]"))
        plain.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, unk_token="[UNK]", pad_token="[PAD]")
        self.assertEqual(token_lists(tokenizer("a b a"), "tokens"), [["a", "b", "a"]])
        batch = tokenizer(["a", "a b"], padding=True)
        self.assertEqual(token_lists(batch, "tokens"), [["a", "[PAD]"], ["a", "b"]])
        self.assertEqual(token_lists(plain.encode_batch(["a", "b"]), "tokens"), [["a"], ["b"]])
        self.assertEqual(tokens_of(dict(tokenizer("a b")), tokenizer), ["a", "b"])


if __name__ == "__main__":
    unittest.main()
