"""What the package raises and warns of, and how it asks for packages that are missing."""
from __future__ import annotations

import importlib
import sys
from types import ModuleType


class FoveaError(Exception):
    """Something that the caller can put right; the message says how."""


class FoveaWarning(UserWarning):
    """Something was left out, or may not be what it seems."""


def need(package: str, purpose: str) -> ModuleType:
    """The imported package, or a FoveaError which says what it is needed for."""
    known = sys.modules.get(package)
    if known is not None:  # asked thousands of times
        return known
    try:
        return importlib.import_module(package)
    except ImportError as error:
        name = package.split(".")[0]
        raise FoveaError(f"{purpose} needs {name}: pip install {name}") from error
