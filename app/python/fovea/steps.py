"""Which step of its attention a call is, and which call of that step."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, NamedTuple, Optional, Set, Tuple


class Run(NamedTuple):
    """A call of a model."""

    root: int  # the number of the model
    number: int  # other runs have others
    thread: int  # where it runs, from its begin to its end


@dataclass(frozen=True)
class Turn:
    """The turn of a call among those of the same attention."""

    step: int  # counts calls of the model
    call: int  # counts calls of the module within one call of the model, as of shared layers or of windows
    total: int  # tokens that this attention has had as queries, with those of this call
    queries: int
    keys: int
    run: Optional[Run]

    def name(self, place: str, batch: int, members: int) -> str:
        """Such as layer3.step1.call2.batch0."""
        parts = [place] + [f"step{self.step}"] * (self.step > 0) + [f"call{self.call}"] * (self.call > 0)
        return ".".join(parts + [f"batch{batch}"] * (members > 1))


class Steps:
    """Counts the calls of every attention by its name.

    A step has the number of the call of the model among those that computed attention. So it has one number in all
    layers, whichever thread comes first, and whether or not a layer was left out of a call.
    """

    def __init__(self) -> None:
        self._runs: Dict[int, Dict[int, int]] = {}  # numbers of runs, by their roots
        self._taken: Dict[str, Set[int]] = {}  # steps
        self._highest: Dict[str, int] = {}  # step
        self._newest: Dict[str, Turn] = {}  # the first call of the newest step
        self._here: Dict[Tuple[str, int], Tuple[Turn, Turn]] = {}  # the first and the last of a step, in a thread

    def next(self, name: str, run: Optional[Run], queries: int, keys: int, cross: bool = False,
             goes_on: bool = False) -> Turn:
        """`run` is the call of the model; None: there is none, and every call is a step.

        `goes_on`: there are tokens before these, though as many keys as queries are known.
        """
        here = (name, run.thread if run else 0)
        first, last = self._here.get(here, (None, None))
        again = run is not None and last is not None and run == last.run
        if first and last and again and last.keys + queries != keys:
            total = first.total if queries == first.queries else keys
            turn = Turn(last.step, last.call + 1, total, queries, keys, run)
        else:  # `again`: a step of a loop inside the model
            newest = self._newest.get(name)
            fresh = queries > 1 if cross else queries == keys and not goes_on  # there is no query before these
            total = queries if fresh or newest is None else newest.total + queries
            first = turn = Turn(self._step(name, None if again else run), 0, total, queries, keys, run)
            self._newest[name] = turn
        self._here[here] = first, turn
        return turn

    def _step(self, name: str, run: Optional[Run]) -> int:
        """That of the run, unless there is none or this attention has had it."""
        taken, highest = self._taken.setdefault(name, set()), self._highest.get(name, -1)
        step = highest + 1
        if run is not None:
            runs = self._runs.setdefault(run.root, {})
            own = runs.setdefault(run.number, len(runs))
            step = step if own in taken else own
        taken.add(step)
        self._highest[name] = max(highest, step)
        return step
