"""Messages between Python and the program: they come back as they were sent, and nonsense is refused."""
import io
import struct
import unittest

from package import needs

from fovea.errors import FoveaError
from fovea.message import Channel, message_pieces, read_message


class Messages(unittest.TestCase):
    @needs("numpy")
    def test_a_channel_carries_an_object_and_tensors(self):
        import numpy

        stream = io.BytesIO()
        q = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        Channel(stream, stream).send({"id": 1, "text": "ä\n"}, {"q": q}, {"tokens": "[]"})
        stream.seek(0)
        channel = Channel(stream, stream)
        message = channel.receive()
        self.assertEqual(message.content, {"id": 1, "text": "ä\n"})
        self.assertEqual(message.tensors.metadata, {"tokens": "[]"})
        self.assertTrue((message.tensors.arrays["q"] == q).all())
        self.assertIsNone(channel.receive())

    def test_numbers_that_json_has_not_are_null(self):
        frame = b"".join(bytes(piece) for piece in message_pieces({"a": [float("nan"), {"b": float("inf")}, 1.5]}))
        self.assertEqual(read_message(frame[8:]).content, {"a": [None, {"b": None}, 1.5]})

    def test_a_stream_that_ends_within_a_frame_ends(self):
        frame = b"".join(bytes(piece) for piece in message_pieces({"id": 1}))
        for end in (0, 7, 8, len(frame) - 1):
            self.assertIsNone(Channel(io.BytesIO(frame[:end]), io.BytesIO()).receive())

    def test_what_is_no_message_is_refused(self):
        for frame in (b"", b"abc", struct.pack("<Q", 2) + b"{}",
                      b"".join(message_pieces({}))[8:].replace(b"message", b"massage")):
            with self.assertRaises(FoveaError):
                read_message(frame)
        for length in (0, 1 << 62):
            with self.assertRaises(FoveaError):
                Channel(io.BytesIO(struct.pack("<Q", length)), io.BytesIO()).receive()


if __name__ == "__main__":
    unittest.main()
