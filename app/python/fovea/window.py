"""Opens the window of Fovea on a file."""
from __future__ import annotations

import os
import subprocess
from typing import Any, List, Union

from .errors import FoveaError
from .program import program
from .starting import Start, begin, tail

MOMENT_SECONDS = 1.0  # in which a window that cannot be opened says so

_opened: List[Start] = []


def open(source: "Union[str, os.PathLike[str]]") -> None:
    """Opens the window of Fovea on a recording, or on any other SOURCE of the program, and returns.

    The window outlives this process. Raises FoveaError if there is no such file, or where no window can be opened.
    """
    name = os.fspath(source)
    if ":" not in name and not os.path.exists(name):
        raise FoveaError(f"{name} does not exist; expected a file that Fovea opens")
    start = begin([*program(), os.path.join(os.curdir, name) if name.startswith("-") else name])
    try:
        status: Any = start.process.wait(MOMENT_SECONDS)
    except subprocess.TimeoutExpired:
        _opened.append(start)
        return
    with start.said:
        why = tail(start.said) or f"{start.words} ended with {status}"
    raise FoveaError(f"no window can be opened: {why}\nOn a machine without a screen, fovea.figure draws")
