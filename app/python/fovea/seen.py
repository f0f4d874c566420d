"""What a call of attention is: the arguments of each function that computes it, in one form."""
from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

from .arrays import LOWEST, numbers_of, type_of
from .call import Call, Weights
from .compressed import choice_of, compressed_of, entry_tokens
from .conditions import Conditions, recognised
from .errors import FoveaError, need
from .recurrence import Recurrence, recurrent_difference

_random = random.Random(0)  # chooses the heads whose recurrence is checked


@dataclass
class Seen:
    """A call as a model made it, of PyTorch or NumPy. Masks and biases have up to four axes."""

    module: Any
    q: Any  # [B, H, nq, d]
    k: Any  # [B, Hkv, nk, d]
    v: Any  # [B, Hkv, nk, dv]
    z: Any  # [B, H, nq, dv]; None: not known
    conditions: Conditions
    mask: Any = None
    bias: Any = None
    ends_causal: bool = False  # a single query that sees all keys belongs to causal attention
    dropout: float = 0.0
    short_logits: bool = True  # logits are rounded to the type of q; else they are float32
    replaced: bool = False  # the model went on with another output than that of its attention
    entries: List[Tuple[int, int]] = field(default_factory=list)  # the tokens of the last keys, if those stand for some
    goes_on = False  # there are no earlier tokens

    members = property(lambda self: int(self.q.shape[0]))
    heads = property(lambda self: int(self.q.shape[1]))
    queries = property(lambda self: int(self.q.shape[2]))
    keys = property(lambda self: int(self.k.shape[2]) - len(self.entries))  # those that are tokens

    def calls(self, total: int, outputs: bool) -> Iterator[Call]:
        """The call of each member of the batch; `total` tokens have been queries by now."""
        c, keys, mask, bias = self.conditions, self.keys, self.mask, self.bias
        if c.scale is None:
            c.scale = float(self.q.shape[3]) ** -0.5
        if self.ends_causal and total < keys and _hides(mask, total):  # places of a cache that are not filled yet
            keys, mask = total, mask[..., :total]
            bias = bias if bias is None or bias.shape[-1] == 1 else bias[..., :total]
        beyond = mask  # of all keys
        if self.entries:
            if mask is None or bias is not None:
                raise FoveaError("its compressed entries have no mask, or have a bias, which a file cannot hold")
            mask = mask[..., :keys]
        for b in range(self.members):
            found = recognised(c, self.queries, keys, self.heads, _member(mask, b), _member(bias, b),
                               self.ends_causal)
            found.causal = bool(found.causal)
            compressed = self._compressed(b, found, _member(beyond, b)) if self.entries else {}
            z = _plain(self.z[b]) if outputs and self.z is not None and not self.dropout else None
            yield Call(_plain(self.q[b]), _plain(_member(self.k, b)[:, :keys]), _plain(_member(self.v, b)[:, :keys]),
                       z, found, compressed=compressed)

    def _compressed(self, b: int, found: Conditions, mask: Any) -> Dict[str, Any]:
        """The tensors of the entries of a member of the batch, by their names in a file."""
        numpy = need("numpy", "Recording a model")
        if not found.causal or found.mask is not None or found.bias is not None:
            raise FoveaError("tokens beside its compressed entries have another mask than a causal one with a window: "
                             "record texts without padding")
        ends = numpy.asarray(self.entries, dtype="int32")
        of_entries = numbers_of(_plain(mask[..., self.keys:]))
        seen = of_entries if of_entries.dtype == bool else of_entries > LOWEST[type_of(mask)] / 2
        choice = choice_of(seen[0] if seen.ndim == 3 and len(seen) == 1 else seen, ends[:, 1])
        return compressed_of(_plain(_member(self.k, b)[:, self.keys:]), _plain(_member(self.v, b)[:, self.keys:]), ends,
                             choice)


@dataclass
class SeenWeights:
    """Weights of which no queries and keys are known."""

    module: Any
    weights: Any  # [B, H, nq, nk]
    dropout: float = 0.0
    replaced: bool = False
    goes_on = False

    members = property(lambda self: int(self.weights.shape[0]))
    heads = property(lambda self: int(self.weights.shape[1]))
    queries = property(lambda self: int(self.weights.shape[2]))
    keys = property(lambda self: int(self.weights.shape[3]))

    def calls(self, total: int, outputs: bool) -> Iterator[Weights]:
        for b in range(self.members):
            yield Weights(_plain(self.weights[b]))


@dataclass
class SeenRecurrence:
    """A call as a model made it, of PyTorch. Groups of heads share queries and keys."""

    module: Any
    q: Any  # [B, G, n, d]
    k: Any  # [B, G, n, d]
    v: Any  # [B, H, n, dv]
    output: Callable[[], Any]  # [B, H, n, dv], before gates and norms
    erases: bool
    log_decay: Any  # [B, H, n] or [B, H, n, d]; None: 0
    scale: float
    beta: Any = None  # [B, H, n]; None: 1
    state: Any = None  # in which earlier tokens are; None: there are none
    refusal: str = ""  # why it cannot be recorded
    dropout: float = 0.0
    replaced: bool = False

    members = property(lambda self: int(self.v.shape[0]))
    heads = property(lambda self: int(self.v.shape[1]))
    queries = property(lambda self: int(self.v.shape[2]))
    keys = property(lambda self: int(self.v.shape[2]))

    @property
    def goes_on(self) -> bool:
        """Whether there are earlier tokens."""
        return self.state is not None and bool(self.state.any())

    def calls(self, total: int, outputs: bool) -> Iterator[Call]:
        """The call of each member of the batch. One that the recurrence does not explain is refused: FoveaError."""
        if self.refusal or self.goes_on:
            raise FoveaError(self.refusal or "it goes on from a state, and the keys and values that made it are no "
                             "part of this call: record the whole text in one call of the model")
        z = self.output()
        check_readable(self.q, self.k, self.v, z)
        for b in range(self.members):
            recurrence = Recurrence(self.erases, *(None if gate is None else _plain(gate[b].float())
                                                   for gate in (self.log_decay, self.beta)))
            call = Call(*(_plain(_of_all_heads(array[b], self.heads))
                          for array in (self.q, self.k, self.v, z)),
                        Conditions(scale=self.scale, causal=True), recurrence=recurrence)
            call.check()
            wrong = recurrent_difference(call, _random.randrange(self.heads), self.v.device.type != "cpu")
            if wrong:
                raise FoveaError(wrong)
            yield call if outputs else replace(call, z=None)


SeenAny = Union[Seen, SeenWeights, SeenRecurrence]


def output_shape(args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> List[int]:
    """The shape of what torch.nn.functional.scaled_dot_product_attention returns."""
    q, k, v = ({**dict(zip(("query", "key", "value"), args)), **kwargs}[name] for name in ("query", "key", "value"))
    outer = need("torch", "Recording a model").broadcast_shapes(q.shape[:-3], k.shape[:-3], v.shape[:-3])
    return [*outer, *q.shape[-3:-1], v.shape[-1]]


def of_sdpa(module: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], z: Any) -> Seen:
    """A call of torch.nn.functional.scaled_dot_product_attention; z None: it is not computed."""
    torch = need("torch", "Recording a model")
    given = dict(zip(("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale"), args))
    given.update(kwargs)
    q, k, v, mask = (given.get(name) for name in ("query", "key", "value", "attn_mask"))
    check_readable(q, k, v, z)
    outer = torch.broadcast_shapes(q.shape[:-3], k.shape[:-3], v.shape[:-3])

    def four(array: Any) -> Any:  # [..., H, n, d] as [B, H, n, d]
        while array.ndim < 3:
            array = array[None]
        return array.expand(*outer, *array.shape[-3:]).reshape(-1, *array.shape[-3:])

    queries, keys = int(q.shape[-2]), int(k.shape[-2])
    causal = bool(given.get("is_causal", False))
    from_the_first = causal and queries != keys  # PyTorch lets query i see the first i + 1 keys
    if mask is not None and type(mask) not in (torch.Tensor, torch.nn.Parameter):
        # Such as CausalBias: a tensor without content, which says by its kind what it means.
        causal, from_the_first = _meaning(mask, queries, keys)
        mask = None
    if mask is not None and mask.ndim > 3:
        mask = four(mask)
    c = Conditions(scale=given.get("scale"), causal=None if mask is not None else causal)
    if from_the_first:
        mask, c.causal = torch.ones(queries, keys, dtype=torch.bool).tril(), None
    return Seen(module, four(q), four(k), four(v), None if z is None else four(z), c, mask,
                dropout=float(given.get("dropout_p") or 0.0), short_logits=False)


def of_transformers(module: Any, kind: str, given: Dict[str, Any], z: Any, cross: bool) -> Seen:
    """A call of a function that transformers' AttentionInterface names; `kind` is "sdpa" or "eager"."""
    q, k, v = (given[name] for name in ("query", "key", "value"))
    mask, bias = given.get("attention_mask"), given.get("position_bias")
    check_readable(q, k, v, z)
    if q.ndim != 4:
        raise FoveaError(f"queries have the shape {list(q.shape)}; expected [B, H, n, d]")
    queries, keys = int(q.shape[2]), int(k.shape[2])
    is_causal = given.get("is_causal")
    is_causal = getattr(module, "is_causal", kind == "sdpa") if is_causal is None else is_causal
    c = Conditions(scale=given.get("scaling"))
    if kind == "sdpa":
        if mask is None:
            c.causal = bool(is_causal) and queries > 1
        if c.causal and keys > queries:  # a cache with free places: causal from the first key on
            k, v = k[:, :, :queries], v[:, :, :queries]
            bias = None if bias is None else bias[..., :queries]
    else:
        if mask is None:
            c.causal = False
        c.softcap = given.get("softcap")
        if given.get("sinks") is not None:
            raise FoveaError("each query has a sink of its own, which a file cannot hold")
        sinks = given.get("s_aux")
        c.sinks = None if sinks is None else sinks.detach().float().reshape(-1).cpu().numpy()
    if z is not None:
        z = z.reshape(q.shape[0], queries, q.shape[1], v.shape[-1]).transpose(1, 2)
    return Seen(module, q, k, v, z, c, mask, bias, ends_causal=bool(is_causal) and not cross,
                dropout=float(given.get("dropout") or 0.0), short_logits=kind != "sdpa",
                entries=_entries_of(module, queries, keys))


def _entries_of(module: Any, queries: int, keys: int) -> List[Tuple[int, int]]:
    """The tokens of the compressed entries that a module appends to its keys (DeepSeek-V4); none of others."""
    compressor = getattr(module, "compressor", None)
    rate = getattr(compressor, "compress_rate", None)
    if not isinstance(rate, int) or rate < 1:
        return []
    entries = entry_tokens(queries, rate, overlapping=hasattr(compressor, "indexer"))
    if keys != queries + len(entries):
        raise FoveaError("it goes on from a cache of compressed entries, and the tokens that they stand for are no part "
                         "of this call: record the whole text in one call of the model")
    return entries


def of_bloom(module: Any, q: Any, k: Any, v: Any, mask: Any, alibi: Any, scale: float, z: Any) -> Seen:
    """What bloom.attach tells of."""
    dropout = module.attention_dropout.p if module.training else 0.0
    return Seen(module, q, k, v, z.transpose(1, 2), Conditions(scale=scale, causal=False if mask is None else None),
                mask, alibi, ends_causal=True, dropout=dropout)


def of_softmax(module: Any, weights: Any, heads: Optional[int]) -> SeenWeights:
    """Weights [..., nq, nk] that a module of so many heads, if that is known, computes by itself."""
    check_readable(weights)
    shape = [int(n) for n in weights.shape]
    if len(shape) == 3:  # the batch and the heads in one axis, or one head
        several = heads is not None and shape[0] % heads == 0
        shape = [shape[0] // heads, heads, *shape[1:]] if several else [shape[0], 1, *shape[1:]]
    while len(shape) < 4:
        shape = [1, *shape]
    if len(shape) > 4 or (heads is not None and shape[1] != heads):
        raise FoveaError(f"it computes weights in pieces, {list(weights.shape)}")
    copy = weights.detach().to("cpu", copy=True)  # the model may change its own before the module is done
    return SeenWeights(module, copy.reshape(shape))


def heads_of(modules: List[Any]) -> Optional[int]:
    """The number of heads that the first of the modules names that names one."""
    for module in modules:
        for name in ("num_heads", "num_attention_heads", "n_heads", "n_head", "num_attn_heads", "nhead", "heads"):
            count = getattr(module, name, None)
            if isinstance(count, int) and count > 0:
                return count
    return None


def check_readable(*arrays: Any) -> None:
    """Raises FoveaError for tensors whose numbers cannot be had."""
    torch = need("torch", "Recording a model")
    wrapped = getattr(torch._C._functorch, "is_functorch_wrapped_tensor", lambda _: False)
    for array in arrays:
        if array is None:
            continue
        if getattr(array, "is_nested", False):
            raise FoveaError("its tensors are nested: run the model on padded ones")
        if wrapped(array):
            raise FoveaError("it runs inside torch.func, such as vmap: run the model without it")
        if array.device.type == "meta":
            raise FoveaError("its tensors are on the device meta, without numbers")
        if not array.numel():
            raise FoveaError("it has no queries or no keys")


def _meaning(mask: Any, queries: int, keys: int) -> Tuple[bool, bool]:
    """Whether a mask without content is causal, and whether it then begins at the first key."""
    variant = getattr(getattr(mask, "variant", None), "name", "")
    if type(mask).__name__ != "CausalBias" or variant not in ("UPPER_LEFT", "LOWER_RIGHT"):
        raise FoveaError(f"its mask is a {type(mask).__name__}, whose numbers cannot be read: pass a plain tensor")
    return True, variant == "UPPER_LEFT" and queries != keys


def _plain(array: Any) -> Any:
    """The numbers, on the CPU: they are there when anything of the call is written."""
    return array.detach().to("cpu") if hasattr(array, "detach") else array


def _of_all_heads(array: Any, heads: int) -> Any:
    """[H, n, d] of [G, n, d]."""
    return array.repeat_interleave(heads // int(array.shape[0]), dim=0)


def _member(array: Any, batch: int) -> Any:
    """The part of a batch member, if the array has four axes; others are the same for all members."""
    if array is None or array.ndim < 4:
        return array
    return array[batch if array.shape[0] > 1 else 0]


def _hides(mask: Any, begin: int) -> bool:
    """Whether a mask hides all keys from `begin` on from all queries."""
    if mask is None or mask.shape[-1] <= begin:
        return False
    rest = mask[..., begin:]
    kind = type_of(rest)
    return not bool(rest.any()) if kind == "BOOL" else bool((rest <= LOWEST[kind] / 2).all())
