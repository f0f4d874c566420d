"""What the window answers is a stranger's text, too: any bytes end in a number, a refusal or an OSError."""
import json
import random
import socket
import struct
import time
import unittest

import package  # the package is found by it


def answered(content):
    """What sending a step returns or raises where the window answers with these bytes."""
    from fovea.link import Address, Link

    ours, theirs = socket.socketpair()
    link = Link.__new__(Link)
    link.address, link._deadline, link._socket, link._most_bytes = Address("/x"), time.monotonic() + 60, ours, 100
    with ours, theirs:
        theirs.sendall(content)
        theirs.shutdown(socket.SHUT_WR)
        return link.send([b"step"], time.monotonic() + 60)


def frame(text):
    content = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(content)) + content


class Answers(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(answered(frame('{"step": 12}')), 12)
        self.assertEqual(answered(frame('{"step": 0, "later": [1, 2]}')), 0)

    def test_refusals(self):
        from fovea.link import Busy, Refused

        with self.assertRaisesRegex(Refused, "too long"):
            answered(frame('{"error": "too long"}'))
        with self.assertRaises(Busy):
            answered(frame('{"error": "later", "busy": true}'))

    def test_what_no_window_answers(self):
        for text in ("", "{", "[]", "12", "null", '"step"', "{}", '{"step": null}', '{"step": "1"}', '{"step": -1}',
                     '{"step": 1.5}', '{"step": true}', '{"step": [1]}', '{"step": NaN}', "[" * 100000, b"\xff\xfe"):
            with self.subTest(text[:20]), self.assertRaisesRegex(ConnectionError, "does not answer like a window"):
                answered(frame(text))
        with self.assertRaisesRegex(ConnectionError, "does not answer like a window"):
            answered(struct.pack("<Q", 1 << 60))

    def test_any_bytes(self):
        from fovea.link import Refused

        draw = random.Random(7)
        valid = [frame(json.dumps(each)) for each in ({"step": 12}, {"error": "no"}, {"error": "x", "busy": True})]
        for _ in range(3000):
            content = bytearray(draw.choice(valid))
            for _ in range(draw.randint(1, 4)):
                at = draw.randrange(8, len(content)) if draw.random() < 0.8 else draw.randrange(len(content))
                content[at] = draw.randrange(256)
            try:
                self.assertIsInstance(answered(bytes(content[:draw.randint(1, len(content))])), int)
            except (Refused, OSError):
                pass


if __name__ == "__main__":
    unittest.main()
