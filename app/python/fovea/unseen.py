"""Keeps what a recording leaves out, or knows in part, and says it at the end."""
from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Dict, Iterable, Iterator, List

from .errors import FoveaError

# Where a name of an operation has one of these words, what to do about it.
ADVICE = (
    (("scaled_dot_product",), "It was called beneath PyTorch's functions, as traced and exported "
     "models and torch.ops do: run the model before it was traced or exported, or give q, k and v to fovea.save."),
    (("flex", "flash_attention_", "paged", "kernels"), "Load the model with attn_implementation=\"sdpa\" or \"eager\" "
     "if it has these, or give q, k and v to fovea.save."),
    (("",), "Give q, k and v to fovea.save."),
)
MOST = 8  # reasons that are said


class Unseen:
    """Attention that was missed, or of which only weights are known. Threads may tell of it at once.

    `where` says in words where a module is.
    """

    def __init__(self, where: Callable[[Any], str]) -> None:
        self._where = where
        self._lock = threading.Lock()
        self._by_hand: Dict[str, str] = {}  # places of which weights are known, and what to do
        self._operations: Dict[str, List[str]] = {}  # places by operations
        self._errors: Dict[str, List[str]] = {}  # places by messages

    def weights_alone(self, module: Any, root: Any) -> None:
        """`root` is the model that runs."""
        more = ""
        if type(module).__module__.startswith("timm."):
            more = ", or call timm.layers.set_fused_attn(True, experimental=True) before the model is made"
        elif getattr(getattr(root, "config", None), "_attn_implementation", "") == "eager" and getattr(
                root, "_supports_sdpa", False):
            more = ", or load the model with attn_implementation=\"sdpa\""
        with self._lock:
            self._by_hand.setdefault(self._where(module), f"Give q, k and v to fovea.save for more{more}.")

    def operation(self, name: str, module: Any) -> None:
        self._add(self._operations, name, module)

    def error(self, message: str, module: Any) -> None:
        self._add(self._errors, message, module)

    def _add(self, to: Dict[str, List[str]], key: str, module: Any) -> None:
        where = self._where(module)
        with self._lock:
            places = to.setdefault(key, [])
            if where not in places:
                places.append(where)

    def notes(self) -> List[str]:
        """What to say about attention that is in the file in part."""
        if not self._by_hand:
            return []
        places = list(self._by_hand)
        themselves = "themselves" if len(places) > 1 else "itself"
        return [f"{_listed(places)} {_verb(places, 'compute')} attention by {themselves}: weights alone are recorded, "
                f"without q, k, v and outputs. {self._by_hand[places[0]]}"]

    def missed(self) -> List[str]:
        """What is not in the file. Empty where nothing was missed."""
        lines = []
        for name, places in self._operations.items():
            advice = next(advice for words, advice in ADVICE if any(word in name for word in words))
            lines.append(f"{_listed(places)} {_verb(places, 'compute')} attention with {name}, which cannot be "
                         f"recorded. {advice}")
        for message, places in self._errors.items():
            lines.append(f"{_listed(places)} cannot be recorded: {message.rstrip('.')}.")
        return lines[:MOST] + [f"There are {len(lines) - MOST} more reasons."] * (len(lines) > MOST)


@contextlib.contextmanager
def leaving_out(unseen: Iterable[Unseen], module: Any) -> Iterator[None]:
    """What goes wrong inside ends nothing, and is kept as an attention of this module that was missed."""
    try:
        yield
    except Exception as error:
        message = str(error) if isinstance(error, FoveaError) else f"{type(error).__name__}: {error}"
        for each in unseen:
            each.error(message.splitlines()[0][:300] if message else type(error).__name__, module)


def _listed(places: List[str]) -> str:
    return places[0] + (f" and {len(places) - 1} more" if len(places) > 1 else "")


def _verb(places: List[str], verb: str) -> str:
    return verb if len(places) > 1 else f"{verb}s"
