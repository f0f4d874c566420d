"""Builds the package, which pyproject.toml describes.

Where the environment variable FOVEA_TREE names a folder with the program and its libraries (bin, lib, share), as the
.tar.gz of Fovea holds it, the wheel carries them and brings the command `fovea`. Otherwise it is pure Python.
"""
import atexit
import os
import shutil
import sys
import tempfile

from setuptools import setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    try:
        from wheel.bdist_wheel import bdist_wheel
    except ImportError:  # no wheel is built
        bdist_wheel = None

TREE = os.environ.get("FOVEA_TREE")
CARRIED = ("bin", "lib", os.path.join("share", "fovea"), os.path.join("share", "doc"))


class BuildWithProgram(build_py):
    def run(self):
        super().run()
        for part in CARRIED:
            target = os.path.join(self.build_lib, "fovea", "program", part)
            shutil.copytree(os.path.join(TREE, part), target, dirs_exist_ok=True)


def with_program():
    if not os.access(os.path.join(TREE, "bin", "fovea"), os.X_OK):
        raise SystemExit(f"FOVEA_TREE is {TREE}; expected a folder with bin/fovea")

    class PlatformWheel(bdist_wheel):
        """For any Python, on systems that have what the program needs of them."""

        def finalize_options(self):
            super().finalize_options()
            self.root_is_pure = False

        def get_tag(self):
            sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
            from platform_tag import platform_tag

            return "py3", "none", platform_tag(TREE)

    return {"cmdclass": {"build_py": BuildWithProgram, "bdist_wheel": PlatformWheel},
            "entry_points": {"console_scripts": ["fovea = fovea.carried:main"]}}


# What is made on the way lies elsewhere, so that the sources stay as they are.
scratch = tempfile.mkdtemp(prefix="fovea-build-")
atexit.register(shutil.rmtree, scratch, ignore_errors=True)
setup(**(with_program() if TREE else {}),
      options={"build": {"build_base": os.path.join(scratch, "build")}, "egg_info": {"egg_base": scratch}})
