"""fovea.read: what is damaged is refused, by FoveaError alone."""
import json
import os
import random
import struct
import subprocess
import unittest

from package import PROGRAM, InFolder, needs


def file_of(header, body=b"", length=None):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + body


def tensor(dtype="F32", shape=(4,), offsets=(0, 16), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


def heads():
    """A file of a head, with a tensor beside it that may be damaged: its header, and its bytes."""
    names = [f"layer0.{name}" for name in "qkv"]
    entries = {name: tensor(shape=(1, 2, 2), offsets=(16 * i, 16 * i + 16)) for i, name in enumerate(names)}
    entries["other"] = tensor("BF16", (2, 2), (48, 56))
    entries["empty"] = tensor("I32", (0, 7), (56, 56))
    return {"__metadata__": {"scale": "0.5", "note": "ä"}, **entries}, struct.pack("<14f", *range(1, 15))


DAMAGED = {
    "4 bytes: too short": b"\xff" * 4,
    "ends within it": file_of({}, length=1000),
    "at most 100000000": file_of({}, length=1 << 62),
    "header is not JSON": file_of(b"{"),
    "header is not JSON as": file_of(b'{"a\xff": 1}'),
    "surrogates not allowed": file_of(b'{"__metadata__": {"a": "\\ud83d"}}'),
    "NaN is no number": file_of(b'{"a": {"x": NaN}}'),
    "1e999 is no number": file_of(b'{"a": {"x": 1e999}}'),
    "maximum recursion depth|nested more than": file_of(b"[" * 100000),
    "nested more than 32 deep": file_of(b'{"a": {"x": ' + b"[" * 40 + b"]" * 40 + b"}}"),
    "expected an object": file_of([1]),
    "'a' is int": file_of({"a": 3}),
    "__metadata__ is not an object": file_of({"__metadata__": [1]}),
    "__metadata__ is not an object of": file_of({"__metadata__": {"scale": 0.5}}),
    "a name occurs twice": file_of(b'{"a": 1, "a": 2}'),
    "has no shape": file_of({"a": {"dtype": "F32", "data_offsets": [0, 16]}}, bytes(16)),
    "has no dtype": file_of({"a": {"shape": [4], "data_offsets": [0, 16]}}, bytes(16)),
    "has no data_offsets": file_of({"a": {"dtype": "F32", "shape": [4]}}, bytes(16)),
    "data_offsets is not a list": file_of({"a": tensor(offsets=(-16, 0))}, bytes(16)),
    "shape is not a list": file_of({"a": tensor(shape=(-1,))}, bytes(16)),
    "shape is not a list of": file_of({"a": tensor(shape=(4.0,))}, bytes(16)),
    "shape is not a list of whole": file_of({"a": tensor(shape=(True, 4))}, bytes(16)),
    "shape is not a list of whole numbers": file_of(b'{"a": {"dtype": "F32", "shape": [-0], "data_offsets": [0, 0]}}'),
    "shape is not a list of whole numbers from": file_of({"a": tensor(shape=(0, 1 << 63), offsets=(0, 0))}),
    "expected .begin, end. within": file_of({"a": tensor(offsets=(0, 17))}, bytes(16)),
    "data_offsets are .16, 0.": file_of({"a": tensor(offsets=(16, 0))}, bytes(16)),
    "data_offsets are .0, 8, 16.": file_of({"a": tensor(offsets=(0, 8, 16))}, bytes(16)),
    "does not have the 12 bytes": file_of({"a": tensor(offsets=(0, 12))}, bytes(12)),
    "does not have the 16 bytes": file_of({"a": tensor(shape=(1 << 40, 1 << 40))}, bytes(16)),
    "the type F8_E4M3, which": file_of({"a": tensor("F8_E4M3", (16,))}, bytes(16)),
    r"the type \['F32'\]": file_of({"a": tensor(["F32"])}, bytes(16)),
    "tensors overlap": file_of({"a": tensor(), "b": tensor(offsets=(8, 24))}, bytes(24)),
    "a hole at byte 20": file_of({"a": tensor(), "b": tensor(offsets=(20, 36))}, bytes(36)),
    "a hole at byte 4": file_of({"a": tensor(offsets=(4, 20))}, bytes(20)),
    "expected no remainder": file_of({"a": tensor()}, bytes(17)),
    "cannot be read": file_of({"a": tensor(shape=[1] * 100 + [4])}, bytes(16)),
}


@needs("numpy")
class Reader(InFolder):
    def read(self, content):
        import fovea

        self.path().write_bytes(content)
        return fovea.read(self.path())

    def test_what_is_damaged_is_refused(self):
        from fovea import FoveaError

        for words, content in DAMAGED.items():
            with self.subTest(words), self.assertRaisesRegex(FoveaError, words):
                self.read(content)

    def test_what_is_no_file_is_refused(self):
        from fovea import FoveaError, read

        os.mkfifo(self.path("pipe"))
        for name, words in (("none", "No such file"), (".", "no regular file"), ("pipe", "no regular file")):
            with self.assertRaisesRegex(FoveaError, words):
                read(self.path(name))
        with self.assertRaisesRegex(FoveaError, "cannot be read"):
            read("a\0b")

    def test_what_is_whole_is_read(self):
        header, body = heads()
        content = self.read(file_of(header, body))
        self.assertEqual(content.arrays["layer0.k"].tolist(), [[[5, 6], [7, 8]]])
        self.assertEqual(content.arrays["other"].tolist(), [[0, 13], [0, 14]])
        self.assertEqual(content.arrays["empty"].shape, (0, 7))
        self.assertEqual(content.metadata, {"scale": "0.5", "note": "ä"})
        scalar = self.read(file_of({"a": tensor("BOOL", (), (0, 1), more=[1.5, None])}, b"\x02"))
        self.assertIs(bool(scalar.arrays["a"]), True)
        self.assertEqual(scalar.arrays["a"].view("u1"), 1)

    def test_bytes_changed_at_random(self):
        """Whatever the header becomes, it is refused with FoveaError, or read; and what is read, the program opens."""
        import fovea

        draw = random.Random(5)
        header, body = heads()
        whole = json.dumps({"other": header.pop("other"), "empty": header.pop("empty")}).encode()
        rest = json.dumps(header).encode()
        read = {}
        memory = os.memfd_create("fuzz")  # much faster than a disk
        self.addCleanup(os.close, memory)
        for _ in range(4000):
            part = bytearray(whole)
            for _ in range(draw.choice((1, 1, 1, 2, 4))):
                at = draw.randrange(len(part))
                change = draw.randrange(4)
                if change == 0:
                    part[at] = draw.randrange(256)
                elif change == 1:
                    part[at] = draw.choice(b'0123456789-,.:[]{}"eE \\')
                elif change == 2:
                    del part[at]
                else:
                    part.insert(at, draw.choice(b'0123456789-,[]{}"\\ '))
            content = file_of(bytes(part[:-1]) + b", " + rest[1:], body)
            try:
                os.truncate(memory, 0)
                os.pwrite(memory, content, 0)
                fovea.read(f"/proc/self/fd/{memory}")
                read[bytes(part)] = content
            except fovea.FoveaError:
                pass
        self.assertGreater(len(read), 30)  # names and places of digits that change nothing
        if not PROGRAM:
            return
        for part, content in list(read.items())[:30]:
            self.path().write_bytes(content)
            done = subprocess.run([PROGRAM, "info", str(self.path())], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{part}: {done.stderr}")


if __name__ == "__main__":
    unittest.main()
