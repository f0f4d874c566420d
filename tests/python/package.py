"""What the tests share: the package from the sources, and what is importable."""
import importlib.util
import os
import pathlib
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("FOVEA_PROGRAM", "")  # `fovea`, where it is built with the tests
for folder in (ROOT / "app" / "python", ROOT / "tests" / "captures"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def missing(*packages):
    """The first package that cannot be imported, or None."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            return package
        try:
            importlib.import_module(package)
        except (ImportError, OSError):
            return package
    return None


def needs(*packages):
    """Skips a test or a class of tests where a package is missing, and says which."""
    absent = missing(*packages)
    return unittest.skipIf(absent, f"{absent} is not importable")


class InFolder(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)

    def path(self, name="run.safetensors"):
        return self.folder / name

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())


def in_threads(work, each):
    """Calls work(one) for each, all at once, and waits for all."""
    threads = [threading.Thread(target=work, args=(one,)) for one in each]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
