"""A model that the program asks for heads and effects, over a channel (hosting.py)."""
from __future__ import annotations

from typing import Any, Dict, List, Tuple

from .effect import Effects
from .errors import need
from .reading import ReadingModel, Request
from .replace import Replacing, parts_of

PER_TOKEN = ("exact_loss", "loss", "kl", "token_drift")  # sent as tensors
LIKELIEST = ("exact_likeliest", "likeliest")


class HostedModel(ReadingModel):
    def __init__(self, model: Any, tokenizer: Any = None, processor: Any = None, name: str = "") -> None:
        super().__init__(model, tokenizer, processor, name)
        self._effects = Effects(self)

    def effect(self, request: Request, content: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """The numbers of Effects.measure, with the tokens, and its arrays."""
        numpy = need("numpy", "Measuring an effect")
        parts, owners = [], []  # each part of the request is one or several of a replacement
        for number, asked in enumerate(content["parts"]):
            some = parts_of(str(asked["variant"]), asked["where"], int(asked.get("seed") or 0),
                            dict(asked.get("parameters") or {}))
            parts += some
            owners += [number] * len(some)
        first = min((layer for asked in content["parts"] for layer, _ in asked["where"]), default=0)
        replacing: List[Replacing] = []

        def replace(notes: List[str]) -> Replacing:
            replacing.append(Replacing(self.model, parts, True, notes.append))
            return replacing[-1]

        measured = self._effects.measure(request, replace, first)
        arrays = {name: numpy.asarray(measured[name]) for name in PER_TOKEN if measured[name] is not None}
        labels = self.tokenizer.convert_ids_to_tokens
        for name in LIKELIEST:
            if measured[name] is not None:
                flat = [pair for position in measured[name] for pair in position]
                arrays[name] = numpy.asarray([chance for _, chance in flat])
                measured[name] = labels([token for token, _ in flat])
        for name in (*PER_TOKEN, "top1"):
            measured.pop(name, None)
        arrays["costs"] = numpy.asarray(_shares(replacing[-1].costs, owners, len(content["parts"])))
        _, ids = self.inputs_of(request)
        return {**measured, "labels": labels(ids)}, arrays


def _shares(costs: Any, owners: List[int], count: int) -> List[float]:
    """The cost of each part as a share of exact attention's."""
    sums = [[0.0, 0.0] for _ in range(count)]
    for owner, pair in zip(owners, costs):
        sums[owner] = [a + b for a, b in zip(sums[owner], pair)]
    return [cost / exact if exact else 1.0 for cost, exact in sums]
