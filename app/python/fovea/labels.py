"""Which tokens the queries and keys of a call are."""
from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple

from .encoding import token_lists

Labels = Tuple[Optional[List[str]], Optional[List[str]]]  # of the queries; of the keys, where they are others


class TokenLabels:
    """The tokens given for a recording, counted along the calls of every attention.

    `tokens` is a list, or a list of lists for a batch; of the decoder in encoder-decoder models, whose encoder's
    tokens are `key_tokens`.
    """

    def __init__(self, tokens: Optional[Sequence], key_tokens: Optional[Sequence]) -> None:
        self._tokens = token_lists(tokens, "tokens")
        self._key_tokens = token_lists(key_tokens, "key_tokens")
        self._counts: Dict[str, int] = {}
        self._followed: Dict[str, int] = {}  # how many tokens the attentions that `tokens` belong to expect

    def count(self, name: str, queries: int) -> int:
        """The tokens that this attention has had as queries, with those of this call."""
        self._counts[name] = self._counts.get(name, 0) + queries
        return self._counts[name]

    def of(self, name: str, role: str, batch: int, total: int, queries: int, keys: int) -> Labels:
        """The labels of one call of a batch member; `total` is what `count` said."""
        own = self._member(self._tokens if role != "encoder" else self._key_tokens or self._tokens, batch)
        others = self._member(self._key_tokens, batch)
        if role == "cross" or (not role and others is not None and keys == len(others) and own is not None):
            labels = self._last(own, total, queries)
            return labels, others if others is not None and len(others) == keys else None
        labels = self._last(own, total, queries)
        if own is not None and role != "encoder":
            self._followed.setdefault(name, len(own))
        if queries == keys or own is None:
            return labels, None
        return labels, self._last(own, total, keys)

    def misfit(self) -> Optional[str]:
        """In words, where more or fewer tokens ran than were given. The last one may have been generated only."""
        for name, given in self._followed.items():
            ran = self._counts[name]
            if ran > given or ran < given - 1:
                return f"{given} tokens were given, and {name} had {ran}: its tokens may be wrong or missing"
        return None

    def _member(self, lists: Optional[List[List[str]]], batch: int) -> Optional[List[str]]:
        if lists is None:
            return None
        return lists[0] if len(lists) == 1 else lists[batch] if batch < len(lists) else None

    @staticmethod
    def _last(tokens: Optional[List[str]], end: int, count: int) -> Optional[List[str]]:
        if tokens is None or end > len(tokens) or count > end:
            return None
        return tokens[end - count : end]
