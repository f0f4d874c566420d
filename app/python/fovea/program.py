"""The program `fovea`: where it is, and how it is run."""
from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
from typing import List, Optional

from .carried import carried_program
from .errors import FoveaError

PACKAGE = os.path.dirname(os.path.realpath(__file__))


def program() -> List[str]:
    """The words that start the program: $FOVEA, which may hold arguments too, what the wheel carries, `fovea` on the
    PATH, or what app/run.sh built in the sources that this package belongs to."""
    given = os.environ.get("FOVEA", "")
    if given:
        return [given] if os.path.exists(given) else shlex.split(given)
    found = carried_program() or shutil.which("fovea") or _built()
    if found is None:
        raise FoveaError("the program fovea is not on the PATH: set the environment variable FOVEA to "
                         "build/release/bin/fovea of its sources, or to \"bash app/run.sh\"")
    return [found]


def run(words: List[str]) -> str:
    """What it says. Raises FoveaError with its message if it refuses."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise FoveaError(f"{words[0]} cannot be started: {error.strerror}") from error
    if done.returncode:
        raise FoveaError(done.stderr.strip() or f"{words[0]} ended with {done.returncode}")
    return done.stderr.strip()


def _built() -> Optional[str]:
    """In the sources, if the package is in its place there and nobody else can have put a program there."""
    place = os.path.join("app", "python", "fovea")
    if not PACKAGE.endswith(os.sep + place):
        return None
    sources = PACKAGE[: -len(place) - 1]
    path = os.path.join(sources, "build", "release", "bin", "fovea")
    return path if os.access(path, os.X_OK) and not _others_write(path, sources) else None


def _others_write(path: str, top: str) -> bool:
    """Whether everybody may put files into one of the folders from `top` down to the file, as into /tmp."""
    while len(path) > len(top):
        path = os.path.dirname(path)
        if os.stat(path).st_mode & stat.S_IWOTH:
            return True
    return False
