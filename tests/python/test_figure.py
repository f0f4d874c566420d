"""fovea.figure, with a stand-in for the program."""
import json
import os
import stat
import sys
import unittest
from unittest import mock

from package import InFolder, needs

STAND_IN = """#!{python}
import json, sys
words = sys.argv[1:]
output = words[words.index("-o") + 1]
if "refuse" in words:
    print("fovea: heads.safetensors: refused", file=sys.stderr)
    sys.exit(3)
given = words[1].endswith("heads.safetensors")
content = {{"words": words, "begins": open(words[1], "rb").read(8).hex() if given else ""}}
open(output, "w").write(json.dumps(content))
print("note: a note", file=sys.stderr)
"""


class Figure(InFolder):
    def setUp(self):
        super().setUp()
        import fovea

        self.fovea = fovea
        self.program = self.folder / "bin" / "fovea"
        self.program.parent.mkdir()
        self.program.write_text(STAND_IN.format(python=sys.executable))
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)

    def draw(self, *source, **more):
        with mock.patch.dict(os.environ, FOVEA=str(self.program)):
            return self.fovea.figure(*source, **more)

    def test_a_file(self):
        figure = self.draw("run.safetensors", variants=("exact", "h1d"), views=("heatmap", "error"), format="svg",
                           layer="cross.layer0", head=2, width="5in", dpi=150, title="Two", parameters={"block": 32},
                           options=["--estimate"])
        self.assertEqual(json.loads(figure.content)["words"][0:2], ["render", "run.safetensors"])
        words = json.loads(figure._repr_svg_())["words"]
        self.assertTrue(words[3].endswith("figure.svg"))
        self.assertEqual(words[4:], ["--layer", "cross.layer0", "--head", "2", "--variant", "exact", "--variant", "h1d",
                                     "--view", "heatmap", "--view", "error", "--set", "block=32", "--width", "5in",
                                     "--dpi", "150", "--title", "Two", "--estimate"])
        self.assertIsNone(figure._repr_png_())
        self.assertEqual(list(figure._repr_mimebundle_()), ["image/svg+xml", "text/plain"])
        self.assertEqual(figure.notes, "note: a note")

    @needs("numpy")
    def test_arrays(self):
        import numpy

        q = numpy.zeros((2, 5, 3), "f4")
        figure = self.draw(q, q, q, causal=True)
        self.assertEqual(figure._repr_png_(), figure.content)
        self.assertTrue(json.loads(figure.content)["begins"])

    def test_it_is_saved_as_it_is(self):
        figure = self.draw("run.safetensors")
        figure.save(self.path("a.png"))
        self.assertEqual(self.path("a.png").read_bytes(), figure.content)
        with self.assertRaisesRegex(self.fovea.FoveaError, "format=\"pdf\""):
            figure.save(self.path("a.pdf"))

    def test_its_message_is_raised(self):
        with self.assertRaisesRegex(self.fovea.FoveaError, "heads.safetensors: refused"):
            self.draw("run.safetensors", options=["refuse"])

    def test_the_program_that_a_wheel_carries_comes_first(self):
        with mock.patch.dict(os.environ, FOVEA="", PATH="/none"), mock.patch.object(
                sys.modules["fovea.carried"], "PROGRAM", str(self.program)):
            self.assertTrue(self.fovea.figure("run.safetensors").content)

    def test_the_program_is_found_on_the_path(self):
        with mock.patch.dict(os.environ, FOVEA="", PATH=str(self.program.parent)):
            self.assertTrue(self.fovea.figure("run.safetensors").content)
        with mock.patch.dict(os.environ, FOVEA="", PATH=str(self.folder)), mock.patch.object(
                sys.modules["fovea.figure"], "SOURCES", str(self.folder)):
            with self.assertRaisesRegex(self.fovea.FoveaError, "not on the PATH"):
                self.fovea.figure("run.safetensors")
        with mock.patch.dict(os.environ, FOVEA=f"{sys.executable} {self.program}"):
            self.assertTrue(self.fovea.figure("run.safetensors").content)
        with mock.patch.dict(os.environ, FOVEA="/none"):
            with self.assertRaisesRegex(self.fovea.FoveaError, "cannot be started"):
                self.fovea.figure("run.safetensors")

    def test_arguments_are_checked(self):
        for arguments, words in ((dict(format="bmp"), "expected png"), (dict(causal=True), "not of a file"),
                                 (dict(v=1), "q needs k")):
            with self.assertRaisesRegex(self.fovea.FoveaError, words):
                self.draw("run.safetensors", **arguments)
        with self.assertRaisesRegex(self.fovea.FoveaError, "expected a file"):
            self.draw(3)


if __name__ == "__main__":
    unittest.main()
