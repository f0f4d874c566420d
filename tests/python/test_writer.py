"""The writer of .safetensors files."""
import json
import struct
import unittest

from package import InFolder, needs


def header_of(path):
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return length, json.loads(content[8 : 8 + length]), content[8 + length :]


@needs("numpy")
class Writer(InFolder):
    def setUp(self):
        super().setUp()
        import numpy

        from fovea.writer import TensorWriter

        self.numpy, self.writer = numpy, TensorWriter

    def test_what_is_written_is_read(self):
        from fovea.reader import read

        arrays = {f"a.{kind}": self.numpy.arange(6).reshape(2, 3).astype(kind)
                  for kind in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "bool")}
        arrays["empty"] = self.numpy.zeros((0, 4), "f4")
        arrays["strided"] = self.numpy.arange(24, dtype="f4").reshape(4, 6)[::2, ::3].T
        arrays["big-endian"] = self.numpy.arange(3, dtype=">f4")
        with self.writer(self.path()) as file:
            for name, array in arrays.items():
                file.add({name: array})
            file.finish({"tokens": '["ä", "\u6f22"]'})
        content = read(self.path())
        self.assertEqual(set(content.arrays), set(arrays))
        for name, array in arrays.items():
            self.assertEqual(content.arrays[name].shape, array.shape)
            self.assertTrue((content.arrays[name] == array).all(), name)
        self.assertEqual(content.metadata, {"tokens": '["ä", "\u6f22"]'})

    def test_tensors_have_no_gaps_and_begin_at_multiples_of_their_size(self):
        with self.writer(self.path()) as file:
            for name, kind, count in (("mask", "bool", 7), ("q", "f4", 3), ("h", "f2", 5), ("w", "f8", 2),
                                      ("b", "i1", 1)):
                file.add({name: self.numpy.ones(count, kind)})
        length, header, body = header_of(self.path())
        self.assertEqual(length % 8, 0)
        places = sorted(entry["data_offsets"] for entry in header.values())
        self.assertEqual([begin for begin, _ in places] + [len(body)], [0] + [end for _, end in places])
        sizes = {"BOOL": 1, "I8": 1, "F16": 2, "F32": 4, "F64": 8}
        for name, entry in header.items():
            self.assertEqual(entry["data_offsets"][0] % sizes[entry["dtype"]], 0, name)

    def test_a_long_file_keeps_its_place_behind_the_room(self):
        with self.writer(self.path(), room=256) as file:
            file.add({"q": self.numpy.arange(4096, dtype="f4")})
            file.add({"odd": self.numpy.ones(3, bool)})
        length, header, body = header_of(self.path())
        self.assertEqual(length, 256)
        self.assertEqual(self.numpy.frombuffer(body[:16384], "f4")[-1], 4095)
        self.assertEqual(header["odd"]["data_offsets"], [16384, 16387])

    def test_a_header_beyond_the_room_moves_the_tensors(self):
        with self.writer(self.path(), room=64) as file:
            for i in range(40):
                file.add({f"layer{i}.q": self.numpy.full(1000, i, "f4")})
        length, header, body = header_of(self.path())
        self.assertGreater(length, 64)
        begin, end = header["layer39.q"]["data_offsets"]
        self.assertTrue((self.numpy.frombuffer(body[begin:end], "f4") == 39).all())
        self.assertEqual(self.files(), ["run.safetensors"])

    def test_a_short_file_has_no_room(self):
        with self.writer(self.path()) as file:
            file.add({"q": self.numpy.zeros(4, "f4")})
        self.assertLess(self.path().stat().st_size, 200)

    def test_an_exception_leaves_the_file_as_it_was(self):
        self.path().write_bytes(b"before")
        with self.assertRaises(ZeroDivisionError):
            with self.writer(self.path()) as file:
                file.add({"q": self.numpy.zeros(4, "f4")})
                self.assertEqual(self.path().read_bytes(), b"before")
                1 / 0
        self.assertEqual(self.path().read_bytes(), b"before")
        self.assertEqual(self.files(), ["run.safetensors"])

    def test_nothing_is_written_after_a_fault(self):
        from unittest import mock

        from fovea import FoveaError

        for error in (OSError(28, "No space left"), KeyboardInterrupt()):
            file = self.writer(self.path())
            file.add({"q": self.numpy.zeros(4, "f4")})
            with mock.patch.object(file._whole, "file", mock.Mock(write=mock.Mock(side_effect=error))):
                with self.assertRaises((FoveaError, KeyboardInterrupt)):
                    file.add({"k": self.numpy.zeros(4, "f4")})
            with self.assertRaisesRegex(FoveaError, "cannot be written: (No space left|KeyboardInterrupt)"):
                file.add({"v": self.numpy.zeros(4, "f4")})
            with self.assertRaisesRegex(FoveaError, "cannot be written"):
                file.finish()
            file.discard()
            self.assertEqual(self.files(), [])

    def test_names_and_types_are_checked(self):
        from fovea import FoveaError

        with self.writer(self.path()) as file:
            file.add({"q": self.numpy.zeros(4, "f4")})
            with self.assertRaisesRegex(FoveaError, "'q' already"):
                file.add({"q": self.numpy.zeros(4, "f4")})
            with self.assertRaisesRegex(FoveaError, "complex64"):
                file.add({"c": self.numpy.zeros(4, "c8")})

    def test_a_call_is_written_as_a_whole(self):
        """Or, where one of its tensors cannot be, not at all."""
        from fovea import FoveaError, read
        from fovea.call import Call

        good, bad = self.numpy.zeros((1, 4, 4), "f4"), self.numpy.zeros((1, 4, 4), "c8")
        with self.writer(self.path()) as file:
            for prefix, arrays in (("a", (good, good, good)), ("b", (good, bad, good)), ("c", (good, good, bad))):
                try:
                    Call(*arrays).write(file, prefix)
                except FoveaError as error:
                    self.assertRegex(str(error), "complex64")
        self.assertEqual(sorted(read(self.path()).arrays), ["a.k", "a.q", "a.v"])

    def test_a_header_that_nobody_would_read(self):
        from unittest import mock

        from fovea import FoveaError, save

        array = self.numpy.zeros((1, 4, 4), "f4")
        with mock.patch("fovea.writer.LONGEST_HEADER", 400):
            save(self.path(), array, array, array)
            with self.assertRaisesRegex(FoveaError, "would have .* bytes, and no more than 400 are read: give fewer"):
                save(self.path(), array, array, array, tokens=4 * ["a long token" * 10])

    def test_the_length_of_the_header_is_not_underrated(self):
        with self.writer(self.path()) as file:
            for n in range(50):
                file.add({f"layer{n}.q": self.numpy.zeros((n, 3), "f4"), f"layer{n}.mask": self.numpy.zeros(n, bool)})
            length = file.header_length
        content = self.path().read_bytes()
        header = int.from_bytes(content[:8], "little")
        self.assertGreaterEqual(length, len(content[8 : 8 + header].rstrip()))

    def test_paths_are_checked_first(self):
        from fovea import FoveaError

        with self.assertRaisesRegex(FoveaError, "is a directory"):
            self.writer(self.folder)
        with self.assertRaisesRegex(FoveaError, "does not exist"):
            self.writer(self.folder / "none" / "run.safetensors")

    @needs("safetensors", "torch")
    def test_the_library_reads_it(self):
        import safetensors.torch
        import torch

        q = torch.randn(2, 3, 5).to(torch.bfloat16)
        with self.writer(self.path()) as file:
            file.add({"q": q.transpose(1, 2)})
            file.add({"mask": torch.ones(3, dtype=torch.bool)})
        read = safetensors.torch.load_file(self.path())
        self.assertTrue(torch.equal(read["q"], q.transpose(1, 2)))
        self.assertEqual(read["mask"].dtype, torch.bool)


if __name__ == "__main__":
    unittest.main()
