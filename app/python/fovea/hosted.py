"""A model that the program asks for heads and effects, over a channel (hosting.py)."""
from __future__ import annotations

from typing import Any, Dict, Tuple

from .effect import Effects, Replacements
from .errors import need
from .reading import ReadingModel, Request

PER_TOKEN = ("exact_loss", "loss", "kl")  # sent as tensors
LEFT_OUT = ("top1", "likeliest", "exact_likeliest")


class HostedModel(ReadingModel):
    def __init__(self, model: Any, tokenizer: Any = None, processor: Any = None, name: str = "") -> None:
        super().__init__(model, tokenizer, processor, name)
        self._effects = Effects(self)

    def effect(self, request: Request, content: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """The numbers of Effects.measure, with the tokens, and its arrays."""
        numpy = need("numpy", "Measuring an effect")
        measured = self._effects.measure(request, lambda: Replacements(
            self.model, content["where"], str(content["variant"]), int(content.get("seed") or 0),
            dict(content.get("parameters") or {})))
        arrays = {name: numpy.asarray(measured.pop(name)) for name in PER_TOKEN if measured[name] is not None}
        for name in (*PER_TOKEN, *LEFT_OUT):
            measured.pop(name, None)
        _, ids = self.inputs_of(request)
        return {**measured, "labels": self.tokenizer.convert_ids_to_tokens(ids)}, arrays
