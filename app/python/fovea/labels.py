"""Which tokens the queries and keys of each call are, once all have run."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Tuple

from .names import NOT_OF_TEXT
from .steps import Turn

Tokens = Optional[List[List[str]]]  # of each member of a batch
Labels = Tuple[Optional[List[str]], Optional[List[str]]]  # of the queries; of the keys, where they are others


@dataclass
class Labelled:
    """A call that is written, of a member of a batch."""

    name: str  # of its attention
    role: str
    turn: Turn
    batch: int


class TokenLabels:
    """The tokens of a recording and the calls that they may be of.

    `tokens` are those of the decoder in encoder-decoder models, whose encoder's are `key_tokens`. Calls have them
    where as many tokens ran as are given: so those of a text are not taken for patches of an image.
    """

    def __init__(self, tokens: Tokens, key_tokens: Tokens, calls: Sequence[Labelled]) -> None:
        self._ran: Dict[str, Turn] = {}  # the first and the last step of each attention
        self._first: Dict[str, Turn] = {}
        self._roles = {call.name: call.role for call in calls}
        for call in calls:
            if not call.turn.call:
                self._first.setdefault(call.name, call.turn)
                self._ran[call.name] = call.turn
        self._tokens, self._key_tokens = tokens, key_tokens
        self.complaint = ""  # in words; empty if all tokens fit
        if tokens is not None and key_tokens is None and "encoder" in self._roles.values():
            self._decide_side(tokens)
        self._find_misfit()

    def of(self, call: Labelled) -> Labels:
        turn, first = call.turn, self._first.get(call.name)
        if first is None or not self._of_text(call.name):
            return None, None
        if turn.call and (turn.queries, turn.keys) != (first.queries, first.keys):
            return None, None  # such as another window of an image
        own = self._member(self._side(call.name), call.batch)
        others = self._member(self._key_tokens, call.batch)
        if own is not None and not self._fits(call.name, len(own)) and first.total != len(own):
            own = None
        labels = _last(own, turn.total, turn.queries)
        apart = call.role == "cross" or (not call.role and others is not None and turn.keys == len(others))
        if apart:
            return labels, others if others is not None and len(others) == turn.keys else None
        return labels, None if turn.queries == turn.keys else _last(own, turn.total, turn.keys)

    def _side(self, name: str) -> Tokens:
        return self._key_tokens if self._roles[name] == "encoder" else self._tokens

    def _fits(self, name: str, given: int) -> bool:
        """The last token may have been generated only."""
        return given - 1 <= self._ran[name].total <= given

    def _of_text(self, name: str) -> bool:
        """Not a tower of images or sounds beside one that is of text."""
        return not NOT_OF_TEXT.search(name) or all(NOT_OF_TEXT.search(other) for other in self._ran)

    def _decide_side(self, tokens: List[List[str]]) -> None:
        fitting = {self._roles[name] for name in self._ran for own in tokens if self._fits(name, len(own))}
        if "encoder" not in fitting:
            return
        self._tokens, self._key_tokens = None, tokens
        if "decoder" in fitting:
            self.complaint = ("tokens fit the encoder and the decoder, and are taken for those of the encoder: pass "
                              "tokens= of the decoder and key_tokens= of the encoder")

    def _find_misfit(self) -> None:
        followed = [name for name, role in self._roles.items()
                    if role not in ("encoder", "cross") and name in self._ran and self._of_text(name)]
        lengths = sorted({len(own) for own in self._tokens or []})
        if not lengths or not followed or any(self._fits(name, n) for name in followed for n in lengths):
            return
        name, given = followed[0], lengths[-1]
        prompt = next((name for name in followed if self._first[name].total in lengths), None)
        if prompt is not None:
            self.complaint = (f"{given} tokens were given, which are those of the first step, and {prompt} had "
                              f"{self._ran[prompt].total}: set recording.tokens to all of them before the block ends")
        else:
            self.complaint = (f"{given} tokens were given, and {name} had {self._ran[name].total}: its tokens are "
                              "left out")

    @staticmethod
    def _member(tokens: Tokens, batch: int) -> Optional[List[str]]:
        if tokens is None:
            return None
        return tokens[0] if len(tokens) == 1 else tokens[batch] if batch < len(tokens) else None


def _last(tokens: Optional[List[str]], end: int, count: int) -> Optional[List[str]]:
    if tokens is None or end > len(tokens) or count > end:
        return None
    return tokens[end - count : end]
