"""fovea.figure, with a stand-in for the program."""
import json
import os
import stat
import sys
import tempfile
import unittest
from unittest import mock
from xml.etree import ElementTree

from package import PROGRAM, InFolder, needs

STAND_IN = """#!{python}
import html, json, sys
words = sys.argv[1:]
output = words[words.index("-o") + 1]
if "refuse" in words:
    print("fovea: heads.safetensors: refused", file=sys.stderr)
    sys.exit(3)
given = words[1].endswith("heads.safetensors")
content = {{"words": words, "begins": open(words[1], "rb").read(8).hex() if given else ""}}
text = json.dumps(content)
if output.endswith(".svg"):
    title = words[words.index("--title") + 1]
    text = f"<svg xmlns='http://www.w3.org/2000/svg'><title>{{title}}</title><desc>{{html.escape(text)}}</desc></svg>"
open(output, "w").write(text)
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
        words = json.loads(ElementTree.fromstring(figure._repr_svg_())[1].text)["words"]
        self.assertEqual(words[0:2], ["render", "run.safetensors"])
        self.assertTrue(words[3].endswith("figure.svg"))
        self.assertEqual(words[4:], ["--layer", "cross.layer0", "--head", "2", "--variant", "exact", "--variant", "h1d",
                                     "--view", "heatmap", "--view", "error", "--set", "block=32", "--width", "5in",
                                     "--dpi", "150", "--title", "Two", "--estimate"])
        self.assertIsNone(figure._repr_png_())
        self.assertEqual(list(figure._repr_mimebundle_()), ["image/svg+xml", "text/plain"])
        self.assertEqual(figure.notes, "note: a note")

    def test_a_notebook_gets_no_script(self):
        """Whatever a title or a name in the source brings into the figure of a program that does not escape it."""
        for title in ("<script>alert(1)</script>", "<a onclick='alert(1)'/>", "<a href=' JavaScript:alert(1)'/>",
                      "<foreignObject/>", "Q & A", "</title>"):
            with self.subTest(title), self.assertRaisesRegex(self.fovea.FoveaError, "no well-formed SVG, or holds a"):
                self.draw("run.safetensors", format="svg", title=title)

    @needs("numpy")
    def test_arrays(self):
        import numpy

        q = numpy.zeros((2, 5, 3), "f4")
        figure = self.draw(q, q, q, causal=True, tokens=list("abcde"), mask=numpy.ones(5, bool), scale=0.5)
        self.assertEqual(figure._repr_png_(), figure.content)
        content = json.loads(figure.content)
        self.assertTrue(content["begins"])
        words = content["words"]
        self.assertEqual(words[words.index("--made-by") + 1],
                         "fovea.figure(q, k, v, variants=['exact'], views=['heatmap'], causal=True, "
                         "tokens=['a', 'b', 'c', 'd', 'e'], mask=mask, scale=0.5)"
                         "  # q [2, 5, 3], k [2, 5, 3], v [2, 5, 3]")
        self.assertNotIn("--made-by", self.draw(q, q, None, options=["--no-session"]).content.decode())

    @needs("numpy")
    @unittest.skipUnless(PROGRAM, "FOVEA_PROGRAM does not name the program")
    def test_a_figure_of_arrays_carries_no_file_that_is_gone(self):
        import numpy

        with mock.patch.dict(os.environ, FOVEA=PROGRAM):
            content = self.fovea.figure(numpy.ones((2, 5, 3), "f4"), numpy.ones((2, 5, 3), "f4")).content
        self.assertIn(b"fovea.figure(q, k, ", content)
        self.assertNotIn(b"fovea:session", content)
        self.assertNotIn(tempfile.gettempdir().encode() + b"/fovea-", content)

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
                sys.modules["fovea.program"], "PACKAGE", str(self.folder)):
            with self.assertRaisesRegex(self.fovea.FoveaError, "not on the PATH"):
                self.fovea.figure("run.safetensors")
        with mock.patch.dict(os.environ, FOVEA=f"{sys.executable} {self.program}"):
            self.assertTrue(self.fovea.figure("run.safetensors").content)
        with mock.patch.dict(os.environ, FOVEA="/none"):
            with self.assertRaisesRegex(self.fovea.FoveaError, "cannot be started"):
                self.fovea.figure("run.safetensors")

    def test_what_is_not_the_program_is_said_so(self):
        with mock.patch.dict(os.environ, FOVEA="/bin/true"):
            with self.assertRaisesRegex(self.fovea.FoveaError, "/bin/true wrote no figure: .FOVEA must name"):
                self.fovea.figure("run.safetensors")

    def test_the_program_is_found_in_the_sources_of_the_package_alone(self):
        """Not in a folder of everybody, such as /tmp, that happens to lie above the package."""
        package = self.folder / "app" / "python" / "fovea"
        built = self.folder / "build" / "release" / "bin" / "fovea"
        for folder in (package, built.parent):
            folder.mkdir(parents=True)
        built.write_text("")
        built.chmod(0o755)
        module = sys.modules["fovea.program"]

        def found(package):
            with mock.patch.object(module, "PACKAGE", str(package)):
                return module._built()

        self.assertEqual(found(package), str(built))
        self.assertIsNone(found(self.folder / "a" / "x" / "fovea"))
        for folder in (self.folder, self.folder / "build", built.parent):
            mode = folder.stat().st_mode
            folder.chmod(0o1777)
            self.assertIsNone(found(package), folder)
            folder.chmod(mode)
        built.unlink()
        self.assertIsNone(found(package))

    def test_arguments_are_checked(self):
        for arguments, words in ((dict(format="bmp"), "expected png"), (dict(causal=True), "not of a file"),
                                 (dict(v=1), "q needs k")):
            with self.assertRaisesRegex(self.fovea.FoveaError, words):
                self.draw("run.safetensors", **arguments)
        with self.assertRaisesRegex(self.fovea.FoveaError, "expected a file"):
            self.draw(3)


class Open(InFolder):
    def setUp(self):
        super().setUp()
        import fovea

        self.fovea = fovea
        self.program = self.path("fovea")
        self.path().write_text("a recording")

    def open(self, source, script):
        self.program.write_text(f"#!/bin/sh\n{script}\n")
        self.program.chmod(0o755)
        with mock.patch.dict(os.environ, FOVEA=str(self.program)):
            self.fovea.open(source)

    def test_a_window_is_opened_and_stays(self):
        os.mkfifo(self.path("words"))
        with mock.patch.object(sys.modules["fovea.window"], "MOMENT_SECONDS", 0):
            self.open(self.path(), f'echo "$@" >"{self.path("words")}"')
        self.assertEqual(self.path("words").read_text(), f"{self.path()}\n")
        for start in sys.modules["fovea.window"]._opened:
            start.process.wait()
            start.said.close()

    def test_a_window_that_cannot_be_opened_says_why(self):
        with mock.patch.object(sys.modules["fovea.window"], "MOMENT_SECONDS", 60):
            with self.assertRaisesRegex(self.fovea.FoveaError, "no window can be opened: no display\nOn a machine"):
                self.open(self.path(), "echo no display >&2; exit 4")
            with self.assertRaisesRegex(self.fovea.FoveaError, "fovea .*run.safetensors ended with 0"):
                self.open("synthetic:run.safetensors", "")
        with self.assertRaisesRegex(self.fovea.FoveaError, "none does not exist"):
            self.open(self.path("none"), "")


if __name__ == "__main__":
    unittest.main()
