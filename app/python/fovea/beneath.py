"""Sees attention beneath PyTorch's functions, in the operations that every call of them ends in.

A TorchDispatchMode sees every operation of its thread: of traced and exported models and of torch.ops, too. What
no route has seen is reported here as left out. Attention that a model computes by itself is a softmax whose result is
a factor of a matrix product.
"""
from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, ContextManager, Dict, List, Optional, Set, Tuple

from .errors import FoveaError, need

# In inference mode the functions themselves are operations, such as matmul.
KINDS = {
    "softmax": {"_softmax", "_safe_softmax", "_log_softmax", "_masked_softmax", "softmax", "log_softmax"},
    "product": {"mm", "bmm", "mv", "addmm", "baddbmm", "matmul", "linear", "einsum"},
    # Their results hold the numbers of an argument in the same order, perhaps changed.
    "copy": {"clone", "_to_copy", "copy", "_unsafe_view", "contiguous", "lift_fresh", "to", "type_as", "reshape",
             "flatten"},
    "change": {"exp", "mul", "div", "masked_fill", "where", "nan_to_num", "native_dropout", "dropout", "add"},
    "noise": {"bernoulli"},  # of dropout
    "embedding": {"embedding"},
}
FUSED = {"_transformer_encoder_layer_fwd"}
HELD = 8  # softmaxes of a model that wait for a product


@dataclass
class Softmax:
    """A softmax that may become the weights of an attention."""

    weights: Any
    axis_is_last: bool
    module: Any  # the innermost one where it was computed
    heads: Optional[int]  # of that module, if it says so
    where: str  # in words
    is_log: bool
    changed: bool = False
    dropped: bool = False  # by dropout, after the softmax
    multiplied: bool = False
    held: List[Any] = field(default_factory=list)  # tensors whose storages are its own or its copies'


class Listener:
    """What Beneath calls when it has found something. Watch implements it."""

    def leaving_out(self) -> ContextManager:
        """In which faults are kept, and end nothing."""
        raise NotImplementedError

    def skips(self) -> bool:
        """Whether nothing is looked for here."""
        raise NotImplementedError

    def here(self) -> Tuple[Any, Optional[int], str]:
        """The innermost module, the number of its heads, if that is known, and where it is in words."""
        raise NotImplementedError

    def weights(self, softmax: Softmax, operand: Any) -> None:
        """A softmax was multiplied with values, as `operand`."""
        raise NotImplementedError

    def no_product(self, softmax: Softmax) -> None:
        """A softmax was not multiplied with anything."""
        raise NotImplementedError

    def length(self, tokens: int) -> None:
        """So many tokens were looked up in a table."""
        raise NotImplementedError

    def operation(self, name: str) -> None:
        """An operation that is attention was called."""
        raise NotImplementedError


class Beneath:
    """Reports attention by hand, and operations that are attention, to `listener`.

    It does not look where `listener` skips. Products with `parameters`, which are storages, are of no attention.
    """

    def __init__(self, listener: "Listener", parameters: Set[int]) -> None:
        self._listener = listener
        self._parameters = parameters
        self._kinds: Dict[Any, str] = {}

    def mode(self) -> Any:
        """A context manager for one thread."""
        dispatch = need("torch.utils._python_dispatch", "Recording a model")
        kinds, beneath = self._kinds, self

        class Mode(dispatch.TorchDispatchMode):  # type: ignore[misc, name-defined]
            supports_higher_order_operators = True

            def __init__(self) -> None:
                super().__init__()
                self.waiting: "OrderedDict[int, Softmax]" = OrderedDict()  # by storages
                self.noise: Any = None  # the last

            @classmethod
            def ignore_compile_internals(cls) -> bool:
                return True

            def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                result = function(*args, **(kwargs or {}))
                kind = kinds.get(function)
                if kind is None:
                    kind = kinds[function] = kind_of(function)
                if kind and not beneath._listener.skips():
                    with beneath._listener.leaving_out():
                        beneath._see(kind, function, args, result, self)
                return result

            def drop_waiting(self) -> None:
                self.noise = None
                while self.waiting:
                    beneath._drop(next(iter(self.waiting)), self.waiting)

        return Mode()

    def _see(self, kind: str, function: Any, args: Any, result: Any, mode: Any) -> None:
        waiting: "OrderedDict[int, Softmax]" = mode.waiting
        if kind == "fused":
            self._listener.operation(str(function))
        elif kind == "softmax":
            axis = args[1] if len(args) > 1 and isinstance(args[1], int) else -1
            softmax = Softmax(result, axis in (-1, result.ndim - 1), *self._listener.here(), "log" in str(function))
            self._hold(softmax, result, waiting)
        elif kind == "noise":
            mode.noise = result
        elif kind == "embedding":
            self._listener.length(int(args[1].shape[-1]) if args[1].ndim else 1)
        elif waiting:
            tensors = [each for arg in args for each in (arg if isinstance(arg, (list, tuple)) else [arg])
                       if hasattr(each, "untyped_storage")]
            found = next(((waiting[_storage(each)], each) for each in tensors if _storage(each) in waiting), None)
            if found is None:
                return
            softmax, operand = found
            by_parameters = any(_storage(each) in self._parameters for each in tensors)
            if kind == "product" and by_parameters and operand.shape[-1] != softmax.weights.shape[-1]:
                kind = "change"  # heads are mixed
            if kind != "product":
                result = result[0] if isinstance(result, (tuple, list)) else result
                if result.numel() == softmax.weights.numel():
                    softmax.changed |= kind == "change"
                    softmax.dropped |= ("dropout" in str(function) and bool(args[2])) or any(
                        each is mode.noise for each in args)
                    self._hold(softmax, result, waiting)
            else:
                softmax.multiplied = True
                self._drop(_storage(operand), waiting)
                if not by_parameters:
                    self._listener.weights(softmax, operand)

    def _hold(self, softmax: Softmax, tensor: Any, waiting: "OrderedDict[int, Softmax]") -> None:
        softmax.held.append(tensor)
        waiting[_storage(tensor)] = softmax
        most = 1 if softmax.module is None else HELD  # outside modules it is not known when to let go
        while len({id(each) for each in waiting.values()}) > most:
            self._drop(next(iter(waiting)), waiting)

    def _drop(self, storage: int, waiting: "OrderedDict[int, Softmax]") -> None:
        softmax = waiting[storage]
        for each in softmax.held:
            waiting.pop(_storage(each), None)
        softmax.held = []
        if not softmax.multiplied:
            self._listener.no_product(softmax)


def kind_of(function: Any) -> str:
    """What an operation does here: a key of KINDS, "fused", or "" for all others."""
    schema = getattr(function, "_schema", None)
    space, _, name = (schema.name if schema is not None else f"higher_order::{function}").rpartition("::")
    if "backward" in name:
        return ""
    if name in FUSED or "attention" in name or (space != "aten" and "attn" in name):
        return "fused"
    if space != "aten":
        return ""
    return next((kind for kind, names in KINDS.items() if name in names or name.rstrip("_") in names), "")


def used_weights(softmax: Softmax, operand: Any) -> Any:
    """The weights [..., nq, nk] as values were multiplied with them. Raises FoveaError for a part of them."""
    shape = softmax.weights.shape
    across = operand.shape[-1] == shape[-1]
    if operand.numel() != softmax.weights.numel() or not (across or shape[-1] in operand.shape):
        raise FoveaError(f"it computes weights in pieces, {list(shape)}")
    if softmax.changed and across and not softmax.dropped:
        return operand.reshape(shape)  # such as with a mask after the softmax
    return softmax.weights.exp() if softmax.is_log else softmax.weights


def _storage(tensor: Any) -> int:
    return int(tensor.untyped_storage()._cdata)
