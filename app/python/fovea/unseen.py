"""Remembers softmaxes of attention that no route has seen, and says what to do about them."""
from __future__ import annotations

from typing import Any, Dict, List, Set


class Unseen:
    """Modules that compute a softmax over pairs of tokens, less those whose attention was recorded."""

    def __init__(self) -> None:
        self._places: Dict[int, str] = {}
        self._seen: Set[int] = set()
        self._weights = ""

    def softmax(self, weights: Any, module: Any, path: str) -> None:
        if module is None:
            return
        attends = "att" in f"{type(module).__name__}.{path}".lower()
        if min(weights.shape[-2:]) > 1 and (weights.ndim == 4 or attends):
            self._places.setdefault(id(module), f"{path or 'the model'} ({type(module).__name__})")

    def weights_asked(self, path: str) -> None:
        self._weights = self._weights or path or "a MultiheadAttention"

    def recorded(self, module: Any) -> None:
        self._seen.add(id(module))

    @property
    def places(self) -> List[str]:
        return [place for module, place in self._places.items() if module not in self._seen]

    def advice(self) -> str:
        """Empty where nothing was missed."""
        if self._weights:
            return (f"{self._weights} was called with need_weights=True, which computes attention in a way that "
                    "cannot be seen: call it with need_weights=False.")
        places = self.places
        if not places:
            return ""
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        return (f"{places[0]}{more} computes attention by itself, not through transformers' AttentionInterface or "
                "torch.nn.functional.scaled_dot_product_attention, so it cannot be recorded. Give its q, k and v to "
                "fovea.save, or load the model with attn_implementation=\"sdpa\" if it has that.")
