"""Sees attention beneath PyTorch's functions, in the operations that every call of them ends in.

A TorchDispatchMode sees every operation of its thread: of traced and exported models and of torch.ops, too. What
no route has seen is reported here as left out. Attention that a model computes by itself is a softmax whose result is
a factor of a matrix product.
"""
from __future__ import annotations

import functools
import sys
import types
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, ContextManager, Dict, Iterator, List, Optional, Tuple

from .errors import FoveaError, need

# In inference mode the functions themselves are operations, such as matmul.
KINDS = {
    "softmax": {"_softmax", "_safe_softmax", "_log_softmax", "_masked_softmax", "softmax", "log_softmax"},
    "product": {"mm", "bmm", "addmm", "baddbmm", "matmul", "linear", "einsum"},
    # Their results hold the numbers of an argument in the same order, perhaps changed.
    "copy": {"clone", "_to_copy", "copy", "_unsafe_view", "contiguous", "lift_fresh", "to", "type_as", "reshape",
             "flatten"},
    "change": {"exp", "mul", "div", "masked_fill", "where", "nan_to_num", "native_dropout", "dropout", "add"},
    "noise": {"bernoulli"},  # of dropout
    "embedding": {"embedding"},
}
FUSED = {"_transformer_encoder_layer_fwd"}
FIRST = {"softmax", "fused", "noise", "embedding"}  # what is looked at though no softmax waits
HELD = 8  # softmaxes of a model that wait for a product


@dataclass
class Softmax:
    """A softmax that may become the weights of an attention."""

    weights: Any
    axis_is_last: bool
    module: Any  # the innermost one where it was computed
    around: Any  # the one around that, which may get it and multiply it
    heads: Optional[int]  # of that module, if it says so
    is_log: bool
    changed: bool = False
    dropped: bool = False  # by dropout, after the softmax
    multiplied: bool = False
    held: List[Any] = field(default_factory=list)  # tensors whose storages are its own or its copies'


class Listener:
    """What Beneath calls when it has found something. Watch implements it."""

    def looking(self) -> ContextManager:
        """In which faults are kept, and end nothing, and modes do not see what is asked of tensors."""
        raise NotImplementedError

    def skips(self) -> bool:
        """Whether nothing is looked for here."""
        raise NotImplementedError

    def inside(self) -> ContextManager:
        """In which operations inside an operation are looked at."""
        raise NotImplementedError

    def here(self) -> Tuple[Any, Any, Optional[int]]:
        """The innermost module, the one around it, and the number of its heads, if that is known."""
        raise NotImplementedError

    def parameters(self) -> Iterator[Any]:
        """Those that the running modules have at hand."""
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

    It does not look where `listener` skips. Products with parameters are of no attention.
    """

    def __init__(self, listener: "Listener") -> None:
        self._listener = listener
        self._kinds: Dict[Any, str] = {}
        self._mode: Any = None

    def mode(self) -> Any:
        """A mode for one thread."""
        self._mode = self._mode or self._class()
        return self._mode()

    def _class(self) -> Any:
        dispatch = need("torch.utils._python_dispatch", "Recording a model")
        others = need("torch", "Recording a model")._C._len_torch_dispatch_stack  # modes around this one
        kinds, beneath, listener = self._kinds, self, self._listener

        class Mode(dispatch.TorchDispatchMode):  # type: ignore[misc, name-defined]
            supports_higher_order_operators = True

            def __init__(self) -> None:
                super().__init__()
                self.waiting: "OrderedDict[int, Softmax]" = OrderedDict()  # by storages
                self.noise: Any = None  # the last

            @classmethod
            def ignore_compile_internals(cls) -> bool:
                return True

            @classmethod
            def _should_skip_dynamo(cls) -> bool:
                return False  # nothing is compiled in the block, and every operation would pay for the wrapper

            def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                kind = kinds.get(function)
                if kind is None:
                    kind = kinds[function] = kind_of(function)
                if kind == "container" and not others() and not listener.skips():
                    return beneath._look_inside(function, args, kwargs or {})
                result = function(*args, **(kwargs or {}))
                if (kind in FIRST or (kind and self.waiting)) and not listener.skips():
                    with listener.looking():
                        beneath._see(kind, function, args, result, self)
                return result

            def forget(self, around: Any = None) -> None:
                """All softmaxes that wait, or those that were computed inside a module in this one."""
                self.noise = None if around is None else self.noise
                for storage, softmax in list(self.waiting.items()):
                    if storage in self.waiting and (around is None or softmax.around is around):
                        beneath._drop(storage, self.waiting)

        return Mode

    def _look_inside(self, function: Any, args: Any, kwargs: Dict[str, Any]) -> Any:
        """Runs the functions of a higher-order operation, or its kernel, with the modes.

        Where the user has modes around these, they would see what is inside, too: then it is not looked at.
        """
        keys = _kernel_of(function, args)
        if keys is not None:
            with self._listener.inside():
                return function.redispatch(keys, *args, **kwargs)

        def watched(part: Any) -> Any:
            if not isinstance(part, types.FunctionType):
                return part

            @functools.wraps(part)
            def run(*args: Any, **kwargs: Any) -> Any:
                with self._listener.inside():
                    return part(*args, **kwargs)

            return run

        return function(*(watched(arg) for arg in args), **{name: watched(arg) for name, arg in kwargs.items()})

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
            by_parameters = self._any_parameter(tensors)
            if kind == "product" and by_parameters and operand.shape[-1] != softmax.weights.shape[-1]:
                kind = "change"  # heads are mixed
            if kind == "product" and not by_parameters and not _as_matrix(softmax, operand, args):
                return  # another product may come, as with values beside those of relative positions
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

    def _any_parameter(self, tensors: List[Any]) -> bool:
        """Whether one is a parameter, or a view of one, now: a storage that ends gives its address to another."""
        storages = {_storage(each) for each in tensors}
        return any(hasattr(each, "untyped_storage") and _storage(each) in storages
                   for each in self._listener.parameters())

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
    """What an operation does here: a key of KINDS, "fused", "container" of other operations, or "" for all others."""
    schema = getattr(function, "_schema", None)
    whole = schema.name if schema is not None else f"higher_order::{function}"
    space, _, name = whole.rpartition("::")
    if "backward" in name:
        return ""
    if name in FUSED or "attention" in name or (space != "aten" and "attn" in name):
        return "fused"
    if space != "aten":
        return "container" if space == "higher_order" or whole in _custom_operations() else ""
    return next((kind for kind, names in KINDS.items() if name in names or name.rstrip("_") in names), "")


def _custom_operations() -> Any:
    """The names of those that are written in Python. PyTorch before 2.4 has none."""
    return getattr(sys.modules.get("torch._library.custom_ops"), "OPDEFS", {})


def _kernel_of(function: Any, args: Any) -> Any:
    """The keys of the kernel of a custom operation on plain tensors; None for others."""
    torch = need("torch", "Recording a model")
    tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
    devices = {each.device.type for each in tensors}
    if not hasattr(function, "redispatch") or len(devices) != 1 or any(
            type(each) not in (torch.Tensor, torch.nn.Parameter) or each.layout != torch.strided for each in tensors):
        return None
    return torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, torch._C._dispatch_key_for_device(devices.pop())))


def _as_matrix(softmax: Softmax, operand: Any, args: Any) -> bool:
    """Whether queries meet the same values. Where each has its own, the softmax mixes something else, as experts."""
    if operand.numel() != softmax.weights.numel() or min(operand.ndim, softmax.weights.ndim) < 2:
        return True  # a piece, which is reported as such
    queries, keys = softmax.weights.shape[-2:]
    across = operand.shape[-1] == keys
    if args and isinstance(args[0], str):  # of an einsum
        terms = args[0].split("->")[0].replace(" ", "").split(",")
        at = next(i for i, each in enumerate(args[1]) if each is operand)
        query = terms[at][-2 if across else -1 :][:1]
        return not any(query in term for i, term in enumerate(terms) if i != at)
    if len(args) == 2 and min(each.ndim for each in args) < 2:
        return False  # with a vector, such as the centres of bins
    return bool(operand.shape[-2 if across else -1] > 1 or queries == 1)


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
