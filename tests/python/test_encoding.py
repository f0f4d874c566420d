"""Tokens of what tokenizers return."""
import unittest

import package  # noqa: F401


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
        with self.assertRaisesRegex(FoveaError, "pass the tokenizer"):
            tokens_of([3, 4])


if __name__ == "__main__":
    unittest.main()
