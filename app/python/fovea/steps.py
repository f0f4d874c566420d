"""Which step of its attention a call is, and which call of that step."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Optional


@dataclass(frozen=True)
class Turn:
    """The turn of a call among those of the same attention."""

    step: int  # counts calls of the model
    call: int  # counts calls of the module within one call of the model, as of shared layers or of windows
    total: int  # tokens that this attention has had as queries, with those of this call
    queries: int
    keys: int
    run: Optional[int]

    def name(self, place: str, batch: int, members: int) -> str:
        """Such as layer3.step1.call2.batch0."""
        parts = [place] + [f"step{self.step}"] * (self.step > 0) + [f"call{self.call}"] * (self.call > 0)
        return ".".join(parts + [f"batch{batch}"] * (members > 1))


class Steps:
    """Counts the calls of every attention by its name."""

    def __init__(self) -> None:
        self._first: Dict[str, Turn] = {}  # of the newest step
        self._last: Dict[str, Turn] = {}

    def next(self, name: str, run: Optional[int], queries: int, keys: int, cross: bool = False) -> Turn:
        """`run` is the number of the call of the model; None: there is none, and every call is a step."""
        first, last = self._first.get(name), self._last.get(name)
        continues = last is not None and last.keys + queries == keys  # a step of a loop inside the model
        if first is None or last is None:
            turn = Turn(0, 0, queries, queries, keys, run)
        elif run is None or run != last.run or continues:
            fresh = queries > 1 if cross else queries == keys  # there is no query before these
            turn = Turn(last.step + 1, 0, queries if fresh else first.total + queries, queries, keys, run)
        else:
            total = first.total if queries == first.queries else keys
            turn = Turn(last.step, last.call + 1, total, queries, keys, run)
        self._last[name] = turn
        if not turn.call:
            self._first[name] = turn
        return turn
