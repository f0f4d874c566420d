"""A model that answers the program's requests: one answer to each, cancelled ones too, and an end when nobody asks."""
import os
import threading
import unittest

from package import needs

from fake_model import FakeModel
from fovea.hosting import host
from fovea.message import Channel


class Asked:
    """A hosted model on a thread, and the program's end of its channel."""

    def __init__(self, model):
        there, self._out = os.pipe()
        here, back = os.pipe()
        self._files = [os.fdopen(there, "rb"), os.fdopen(back, "wb"), os.fdopen(here, "rb"), os.fdopen(self._out, "wb")]
        self.channel = Channel(self._files[2], self._files[3])
        self.gone = threading.Event()
        self.thread = threading.Thread(target=host, args=(Channel(*self._files[:2]), model, self.gone.set))
        self.thread.start()
        self.hello = self.channel.receive().content

    def answer(self, number):
        """The last answer to a request."""
        while True:
            message = self.channel.receive()
            if message.content["id"] == number and "reached" not in message.content:
                return message

    def end(self):
        self._files[3].close()
        self.thread.join()
        for file in self._files[:3]:
            file.close()


@needs("numpy")
class Hosting(unittest.TestCase):
    def asked(self, behaviour=""):
        asked = Asked(FakeModel(behaviour))
        self.addCleanup(asked.end)
        return asked

    def test_heads_of_a_text(self):
        asked = self.asked()
        self.assertEqual(asked.hello["hello"], "fovea model")
        self.assertEqual(asked.hello["model"]["layers"], 3)
        asked.channel.send({"id": 5, "do": "heads", "text": "a b c", "max_tokens": 2})
        answer = asked.answer(5)
        self.assertEqual(answer.tensors.arrays["layer2.q"].shape, (2, 2, 4))
        self.assertEqual(answer.tensors.metadata["tokens"], '["a", "b"]')
        self.assertEqual(answer.content["notes"], ["a note"])

    def test_layers_come_one_by_one_to_a_program_that_takes_them(self):
        asked = self.asked()
        asked.channel.send({"id": 5, "do": "heads", "text": "a b c", "max_tokens": 2, "parts": True})
        parts = [asked.answer(5) for _ in range(3)]
        for number, part in enumerate(parts):
            self.assertEqual(part.content, {"id": 5, "part": number, "of": 3, "same": {}})
            self.assertEqual(sorted(part.tensors.arrays), [f"layer{number}.{name}" for name in "kqv"])
        self.assertEqual(parts[0].tensors.metadata["tokens"], '["a", "b"]')
        last = asked.answer(5)
        self.assertEqual(last.content, {"id": 5, "notes": ["a note"], "parts": 3, "same": {}})
        self.assertEqual(last.tensors.arrays, {})  # nothing is sent twice
        self.assertEqual(last.tensors.metadata, parts[0].tensors.metadata)
        asked.channel.send({"id": 6, "do": "heads", "text": "a b c"})
        self.assertEqual(len(asked.answer(6).tensors.arrays), 9)

    def test_a_picture_comes_with_its_first_layer(self):
        import numpy

        asked = self.asked()
        asked.channel.send({"id": 1, "do": "heads", "parts": True}, {"picture": numpy.zeros((4, 6, 3), numpy.uint8)})
        answers = [asked.answer(1) for _ in range(4)]
        self.assertEqual(["picture" in each.tensors.arrays for each in answers], [True, False, False, False])

    def test_an_error_between_layers_is_the_last_answer(self):
        asked = self.asked("fails later")
        asked.channel.send({"id": 1, "do": "heads", "text": "a", "parts": True})
        self.assertEqual(asked.answer(1).content["part"], 0)
        self.assertEqual(asked.answer(1).content, {"id": 1, "error": "no memory for layer1"})

    def test_a_cancelled_model_gives_no_other_layer(self):
        asked = self.asked("stops")
        asked.channel.send({"id": 1, "do": "heads", "text": "a", "parts": True})
        self.assertEqual(asked.answer(1).content["part"], 0)
        asked.channel.send({"do": "cancel", "of": 1})
        self.assertEqual(asked.answer(1).content, {"id": 1, "cancelled": True})

    def test_an_error_is_an_answer(self):
        asked = self.asked()
        asked.channel.send({"id": 1, "do": "heads", "text": ""})
        self.assertIn("no token", asked.answer(1).content["error"])
        asked.channel.send({"id": 2, "do": "dance"})
        self.assertIn("'dance' is no request", asked.answer(2).content["error"])
        asked.channel.send({"id": 3, "do": "heads", "text": "a", "max_tokens": "many"})
        self.assertIn("ValueError", asked.answer(3).content["error"])

    def test_a_fault_of_the_model_is_an_answer_and_not_the_end(self):
        asked = self.asked("fails")
        for number in (1, 2):
            asked.channel.send({"id": number, "do": "heads", "text": "a"})
            self.assertIn("CUDA_HOME", asked.answer(number).content["error"])

    def test_a_request_without_a_number_is_the_end(self):
        asked = Asked(FakeModel())
        asked.channel.send({"id": [1], "do": "heads", "text": "a"})
        asked.gone.wait(30)
        self.assertTrue(asked.gone.is_set())
        asked.end()

    def test_what_is_cancelled_says_so_whether_it_runs_or_waits(self):
        asked = self.asked("slow")
        asked.channel.send({"id": 1, "do": "heads", "text": "a"})
        asked.channel.send({"id": 2, "do": "heads", "text": "a"})
        while "reached" not in asked.channel.receive().content:
            pass
        asked.channel.send({"do": "cancel", "of": 2})
        asked.channel.send({"do": "cancel", "of": 1})
        asked.channel.send({"do": "cancel", "of": 99})
        self.assertEqual(asked.answer(1).content, {"id": 1, "cancelled": True})
        self.assertEqual(asked.answer(2).content, {"id": 2, "cancelled": True})

    def test_the_end_of_the_input_is_the_end(self):
        asked = Asked(FakeModel("slow"))
        asked.channel.send({"id": 1, "do": "heads", "text": "a"})
        asked.end()
        self.assertTrue(asked.gone.is_set())


if __name__ == "__main__":
    unittest.main()
