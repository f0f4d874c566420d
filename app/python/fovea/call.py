"""One attention call of one sequence, and how it is written."""
from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from typing import Any, Dict, List, Optional, Sequence, Union

from .arrays import is_torch, stacked, type_of
from .compressed import check_compressed, of_heads as entries_of_heads
from .conditions import Conditions, check_segments
from .errors import FoveaError, need
from .gradients import check_shapes
from .recurrence import Recurrence
from .selection import check_selection
from .writer import TensorBytes, TensorMemory, TensorWriter


MOST_RUNS = 1024  # of a kernel on one input


@dataclass
class Call:
    """Arrays of PyTorch or NumPy, in the type of the model."""

    q: Any  # [H, nq, d], after rotary embedding
    k: Any  # [Hkv, nk, d], not repeated: query head h uses head h // (H / Hkv)
    v: Any  # [Hkv, nk, dv]; None: not known, so Fovea shows weights alone
    z: Any = None  # [H, nq, dv], the model's own output, before the output projection
    conditions: Conditions = field(default_factory=Conditions)
    tokens: Optional[Sequence[str]] = None  # of the queries
    key_tokens: Optional[Sequence[str]] = None  # of the keys, where they are other tokens
    model: Optional[str] = None
    module: Optional[str] = None
    z_runs: List[Any] = field(default_factory=list)  # [H, nq, dv] each, outputs of runs on the same input
    kept: Dict[str, Any] = field(default_factory=dict)  # what says which pairs are kept (selection.py)
    recurrence: Optional[Recurrence] = None  # in place of the softmax
    gradients: Dict[str, Any] = field(default_factory=dict)  # by their names (gradients.py)
    compressed: Dict[str, Any] = field(default_factory=dict)  # keys that stand for tokens (compressed.py)

    @property
    def heads(self) -> int:
        return int(self.q.shape[0])

    @property
    def queries(self) -> int:
        return int(self.q.shape[1])

    @property
    def keys(self) -> int:
        """Those that are tokens."""
        return int(self.k.shape[1])

    @property
    def entries(self) -> int:
        """The keys that stand for tokens, after those that are tokens."""
        shape = self.compressed["k_extra"].shape if self.compressed else (0, 0)
        return int(shape[1]) if len(shape) > 1 else 0

    def check(self) -> None:
        """Raises FoveaError where shapes do not fit each other."""
        given = [(name, array) for name, array in (("q", self.q), ("k", self.k), ("v", self.v)) if array is not None]
        for name, array in given:
            if len(array.shape) != 3:
                raise FoveaError(f"{name} has the shape {list(array.shape)}; expected [H, n, d]")
        if self.q.shape[2] != self.k.shape[2] or any(array.shape[:2] != self.k.shape[:2] for _, array in given[1:]):
            raise FoveaError(", ".join(f"{name} {list(array.shape)}" for name, array in given) + " do not fit; "
                             "expected q [H, nq, d], k [Hkv, nk, d] and v [Hkv, nk, dv]")
        if self.heads % max(1, int(self.k.shape[0])):
            raise FoveaError(f"{self.heads} query heads cannot share {int(self.k.shape[0])} key heads evenly")
        if len(self.z_runs) > MOST_RUNS:
            raise FoveaError(f"z_runs has {len(self.z_runs)} runs; expected at most {MOST_RUNS}")
        if len({type_of(each) for each in self.z_runs}) > 1 or len({is_torch(each) for each in self.z_runs}) > 1:
            raise FoveaError("z_runs has tensors of several types; expected the outputs of one kernel")
        for name, array in (("z", self.z), *(("z_runs", each) for each in self.z_runs)):
            if array is not None and self.v is None:
                raise FoveaError(f"{name} without v: there is nothing to compare it with")
            if array is not None and list(array.shape) != [self.heads, self.queries, int(self.v.shape[2])]:
                raise FoveaError(f"{name} has the shape {list(array.shape)}; expected "
                                 f"{[self.heads, self.queries, int(self.v.shape[2])]}")
        pairs = [self.heads, self.queries, self.keys]
        for name, array in (("mask", self.conditions.mask), ("bias", self.conditions.bias)):
            if array is not None and list(array.shape) not in (pairs[2:], pairs[1:], pairs):
                raise FoveaError(f"{name} has the shape {list(array.shape)}; expected {pairs[2:]}, {pairs[1:]} or "
                                 f"{pairs}")
        for name, array, count in (("alibi", self.conditions.alibi, self.heads),
                                   ("sinks", self.conditions.sinks, self.heads)):
            if array is not None and list(array.shape) != [count]:
                raise FoveaError(f"{name} has the shape {list(array.shape)}; expected [{count}]")
        for name in ("scale", "window", "softcap"):
            number = getattr(self.conditions, name)
            if number is not None and not 0 < number < math.inf:
                raise FoveaError(f"{name} is {number:g}; expected a number above 0")
        check_segments(self.conditions.segments, self.queries, self.keys)
        if self.recurrence is not None:
            self.recurrence.check(self)
        check_shapes(self.gradients, self.q, self.k, self.v)
        check_compressed(self)
        check_selection(self.kept, self.heads, int(self.k.shape[0]), self.queries, self.keys + self.entries)
        for name, tokens, count in (("tokens", self.tokens, self.queries),
                                    ("key_tokens", self.key_tokens, self.keys)):
            if tokens is not None and len(tokens) != count:
                raise FoveaError(f"{len(tokens)} {name} for {count} places")

    def of_heads(self, heads: List[int]) -> "Call":
        """The call with some of its query heads, and the key and value heads which they use.

        It has no gradients: those of shared keys and values are sums over all query heads.
        """
        group = self.heads // int(self.k.shape[0])
        used = sorted({head // group for head in heads})
        shares = [[head for head in heads if head // group == one] for one in used]
        if heads != [head for share in shares for head in share] or len({len(s) for s in shares}) > 1:
            used = [head // group for head in heads]  # uneven shares: one for each query head
        return replace(self, q=self.q[heads], k=self.k[used], v=None if self.v is None else self.v[used],
                       z=None if self.z is None else self.z[heads],
                       z_runs=[z[heads] for z in self.z_runs], conditions=self.conditions.of_heads(heads),
                       recurrence=self.recurrence and self.recurrence.of_heads(heads), gradients={},
                       compressed=entries_of_heads(self.compressed, heads, used, self.heads))

    def arrays(self) -> Dict[str, Any]:
        """The tensors by the names that they have in a file, without the prefix."""
        numpy = need("numpy", "Writing tensors")
        c = self.conditions
        arrays = {"q": self.q, "k": self.k, "v": self.v, "z": self.z, "z_runs": stacked(self.z_runs), "mask": c.mask,
                  "bias": c.bias}
        for name, array, kind in (("alibi", c.alibi, numpy.float32), ("sinks", c.sinks, numpy.float32),
                                  ("segments", c.segments, numpy.int32)):
            arrays[name] = None if array is None else numpy.asarray(array, dtype=kind)
        gates = {} if self.recurrence is None else self.recurrence.arrays()
        arrays.update({**gates, **self.gradients, **self.kept, **self.compressed})
        return {name: array for name, array in arrays.items() if array is not None}

    def write(self, file: Union[TensorWriter, TensorBytes, TensorMemory], prefix: str) -> Dict[str, str]:
        """Writes the tensors as PREFIX.q and so on. Returns the metadata of this call, without the prefix."""
        self.check()
        file.add({f"{prefix}.{name}": array for name, array in self.arrays().items()})
        return self.metadata()

    def metadata(self) -> Dict[str, str]:
        c = self.conditions
        said: Dict[str, Optional[str]] = {
            "scale": None if c.scale is None else repr(float(c.scale)),
            "causal": None if c.causal is None else "true" if c.causal else "false",
            "window": None if c.window is None else str(int(c.window)),
            "softcap": None if c.softcap is None else repr(float(c.softcap)),
            "recurrence": None if self.recurrence is None else self.recurrence.name,
            **names_metadata(self.tokens, self.key_tokens, self.model, self.module),
        }
        return {key: value for key, value in said.items() if value is not None}


@dataclass
class Weights:
    """The weights of a call of which queries, keys and values are not known."""

    attention: Any  # [H, nq, nk], after the softmax
    model: Optional[str] = None
    module: Optional[str] = None

    def check(self) -> None:
        if len(self.attention.shape) != 3:
            raise FoveaError(f"attention has the shape {list(self.attention.shape)}; expected [H, nq, nk]")

    def of_heads(self, heads: List[int]) -> "Weights":
        return replace(self, attention=self.attention[heads])

    def write(self, file: Union[TensorWriter, TensorBytes, TensorMemory], prefix: str) -> Dict[str, str]:
        """Writes the tensor as PREFIX.attention. Returns the metadata of this call, without the prefix."""
        file.add({f"{prefix}.attention": self.attention})
        said = names_metadata(None, None, self.model, self.module)
        return {key: value for key, value in said.items() if value is not None}


def names_metadata(tokens: Optional[Sequence[str]], key_tokens: Optional[Sequence[str]], model: Optional[str] = None,
                   module: Optional[str] = None) -> Dict[str, Optional[str]]:
    """What a file says of the names of a call; None: nothing."""
    return {"tokens": None if tokens is None else _json(tokens),
            "key_tokens": None if key_tokens is None else _json(key_tokens),
            "model": model or None, "module": module or None}


def shared_metadata(calls: Dict[str, Dict[str, str]]) -> Dict[str, str]:
    """The metadata of a file: what all calls share is said once, the rest with the prefix of its call."""
    result: Dict[str, str] = {"layout": "[H,n,d]"}  # or a few tokens of many heads would be read as a guess
    all_calls = list(calls.values())
    for key in sorted({key for call in all_calls for key in call}):
        values = {call.get(key) for call in all_calls}
        if len(values) == 1 and key != "module":
            result[key] = all_calls[0][key]
            continue
        for prefix, call in calls.items():
            if key in call:
                result[f"{prefix}.{key}"] = call[key]
    return result


def _json(tokens: Sequence[str]) -> str:
    return json.dumps([str(token) for token in tokens], ensure_ascii=False)
