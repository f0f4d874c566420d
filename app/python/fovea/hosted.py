"""A model that the program asks for heads and effects, over a channel (hosting.py)."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from .effect import Effects
from .errors import need
from .reading import ReadingModel, Request
from .replace import Part, Replacing, parts_of

PER_TOKEN = ("exact_loss", "loss", "kl", "token_drift")  # sent as tensors
LIKELIEST = ("exact_likeliest", "likeliest")


class HostedModel(ReadingModel):
    def __init__(self, model: Any, tokenizer: Any = None, processor: Any = None, name: str = "") -> None:
        super().__init__(model, tokenizer, processor, name)
        self._effects = Effects(self)

    def effect(self, request: Request, content: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """The numbers of Effects.measure, and its arrays, with the tokens; without these if "rows" is false."""
        numpy = need("numpy", "Measuring an effect")
        replacing = Asked(self.model, content["parts"])
        rows = bool(content.get("rows", True))
        measured = self._effects.measure(request, replacing, replacing.first_layer, rows)
        arrays = {name: numpy.asarray(measured[name]) for name in PER_TOKEN if measured[name] is not None}
        labels = self.tokenizer.convert_ids_to_tokens
        for name in LIKELIEST:
            if measured[name] is not None:
                flat = [pair for position in measured[name] for pair in position]
                arrays[name] = numpy.asarray([chance for _, chance in flat])
                measured[name] = labels([token for token, _ in flat])
        for name in (*PER_TOKEN, "top1"):
            measured.pop(name, None)
        for name, numbers in zip(("multiply_adds", "exact_multiply_adds"), replacing.costs()):
            arrays[name] = numpy.asarray(numbers)
        ids = measured.pop("ids")
        return {**measured, "labels": labels(ids) if rows else []}, arrays

    def effect_time(self, request: Request, content: Dict[str, Any]) -> Dict[str, Any]:
        """The seconds of Effects.time."""
        return self._effects.time(request, Asked(self.model, content["parts"]))


class Asked:
    """The replacement that a request asks for. Each of its parts is one or several of a Replacing."""

    def __init__(self, model: Any, asked: List[Dict[str, Any]]) -> None:
        self._model = model
        self._parts: List[Part] = []
        self._owners: List[int] = []  # the part of the request, for each of the parts
        self._count = len(asked)
        for number, each in enumerate(asked):
            some = parts_of(str(each["variant"]), each["where"], int(each.get("seed") or 0),
                            dict(each.get("parameters") or {}))
            self._parts += some
            self._owners += [number] * len(some)
        self.first_layer = min((layer for each in asked for layer, _ in each["where"]), default=0)
        self._last: Optional[Replacing] = None

    def __call__(self, notes: List[str]) -> Replacing:
        self._last = Replacing(self._model, self._parts, True, notes.append)
        return self._last

    def costs(self) -> Tuple[List[float], List[float]]:
        """The multiply-adds of each part in the last block, and those of exact attention in its heads."""
        sums = [[0.0, 0.0] for _ in range(self._count)]
        for owner, pair in zip(self._owners, self._last.costs if self._last else []):
            sums[owner] = [a + b for a, b in zip(sums[owner], pair)]
        return [cost for cost, _ in sums], [exact for _, exact in sums]
