"""The program inside this package: wheels carry it, the package from the sources does not."""
from __future__ import annotations

import os
import sys
from typing import Optional

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program", "bin", "fovea")


def carried_program() -> Optional[str]:
    return PROGRAM if os.access(PROGRAM, os.X_OK) else None


def main() -> None:
    """The command `fovea` of a wheel: this process becomes the program."""
    os.execv(PROGRAM, [PROGRAM, *sys.argv[1:]])
