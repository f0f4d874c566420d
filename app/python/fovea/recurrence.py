"""The gates of heads that compute a recurrence in the place of a softmax, and the recurrence itself.

S_t = (I - [erases] b_t k_t k_t^T) A_t S_(t-1) + b_t k_t v_t^T and o_t = scale S_t^T q_t, where S_0 is 0, b is beta and
A_t is exp(log_decay_t). Gated DeltaNet and KDA erase; the SSD of Mamba-2 does not.
"""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from .arrays import ROUNDING, numbers_of, type_of
from .errors import FoveaError, need

if TYPE_CHECKING:
    from .call import Call

CHECKED = 2048  # tokens whose outputs are computed again
CHUNK = 256  # tokens that kernels take at a time, at most
NAMES = ("linear", "delta")
SOFTMAX_ONLY = ("window", "softcap", "mask", "bias", "alibi", "sinks", "segments")  # conditions


@dataclass
class Recurrence:
    """Arrays of PyTorch or NumPy."""

    erases: bool  # the delta rule
    log_decay: Any = None  # [H, n], or [H, n, d] for each channel of the keys; None: 0
    beta: Any = None  # [H, n]; None: 1

    @property
    def name(self) -> str:
        return NAMES[self.erases]

    def of_heads(self, heads: Any) -> "Recurrence":
        return replace(self, **{name: array[heads] for name, array in self.arrays().items()})

    def arrays(self) -> Dict[str, Any]:
        gates = {"beta": self.beta, "log_decay": self.log_decay}
        return {name: array for name, array in gates.items() if array is not None}

    def check(self, call: "Call") -> None:
        """Raises FoveaError for what does not fit the call, and for numbers that no recurrence has."""
        numpy = need("numpy", "Checking a recurrence")
        if call.queries != call.keys:
            raise FoveaError(f"{call.queries} queries and {call.keys} keys; a recurrence has one of each for a token")
        if not call.conditions.causal:
            raise FoveaError("a recurrence sees the tokens before each one; expected causal=True")
        others = [name for name in SOFTMAX_ONLY if getattr(call.conditions, name) is not None] + list(call.kept)
        if others:
            raise FoveaError(f"{', '.join(others)}: of a softmax, which a recurrence does not have")
        for name, array in self.arrays().items():
            shapes = gate_shapes(name, call.q)
            if list(array.shape) not in shapes:
                raise FoveaError(f"{name} has the shape {list(array.shape)}; expected "
                                 f"{' or '.join(map(str, shapes))}")
            if not numpy.isfinite(numbers_of(array)).all():
                raise FoveaError(f"{name} holds something other than finite numbers")
        if self.log_decay is not None and (numbers_of(self.log_decay) > 0).any():
            raise FoveaError("log_decay holds numbers above 0; expected logarithms of decays of at most 1")

    def gates(self, head: int, tokens: int) -> Tuple[Any, Any]:
        """Beta [n] and log_decay [n, 1 or d] of the first tokens of a head, in float64."""
        numpy = need("numpy", "Checking a recurrence")
        beta, decay = ((numpy.full(tokens, default) if array is None else
                        numbers_of(array[head])[:tokens].astype(numpy.float64))
                       for array, default in ((self.beta, 1.0), (self.log_decay, 0.0)))
        return beta, decay.reshape(tokens, -1)


def gate_shapes(name: str, q: Any) -> List[List[int]]:
    """The shapes that "beta" or "log_decay" may have beside queries [H, n, d]."""
    heads, tokens, channels = (int(size) for size in q.shape)
    of_tokens = [heads, tokens]
    return [of_tokens] if name == "beta" else [of_tokens, [*of_tokens, channels]]


def gate_with_heads(array: Any, name: str, q: Any) -> Any:
    """[H, n] or [H, n, d] of a gate that may have a batch of one before its heads, or no axis for its only head.

    A gate that does not fit the queries [H, n, d] stays as it is: Recurrence.check refuses it.
    """
    shape = list(array.shape)
    for expected in gate_shapes(name, q):
        if shape == [1, *expected]:
            return array[0]
        if [1, *shape] == expected:
            return array[None]
    return array


def recurrent_output(call: "Call", head: int, tokens: int) -> Tuple[Any, Any]:
    """The first outputs [tokens, dv] of a head in float64, token by token, and the sizes [tokens] of their terms.

    A size is what the outputs would be if all terms had one sign and nothing were erased.
    """
    numpy = need("numpy", "Checking a recording")
    assert call.recurrence is not None
    group = call.heads // int(call.k.shape[0])
    q, k, v = (numbers_of(array)[:tokens].astype(numpy.float64)
               for array in (call.q[head], call.k[head // group], call.v[head // group]))
    beta, log_decay = call.recurrence.gates(head, tokens)
    decay = numpy.exp(log_decay)
    state, terms = numpy.zeros((q.shape[1], v.shape[1])), numpy.zeros(q.shape[1])
    output, sizes = numpy.empty(v.shape), numpy.empty(tokens)
    for t in range(tokens):
        state *= decay[t][:, None]
        new = v[t] - k[t] @ state if call.recurrence.erases else v[t]
        state += numpy.outer(beta[t] * k[t], new)
        output[t] = q[t] @ state
        terms = decay[t] * terms + abs(beta[t]) * abs(k[t]) * abs(v[t]).max()
        sizes[t] = abs(q[t]) @ terms
    scale = q.shape[1] ** -0.5 if call.conditions.scale is None else call.conditions.scale
    return scale * output, scale * sizes


def recurrent_difference(call: "Call", head: int, short: bool) -> Optional[str]:
    """What is wrong with the output of a head, in words; None where the recurrence explains it.

    Products have the rounding of float32, or of TensorFloat-32 if `short`, and the exponents of decays that of their
    sum over a chunk. Without decays, the fallbacks of transformers err by less than a single rounding.
    """
    numpy = need("numpy", "Checking a recording")
    assert call.recurrence is not None
    tokens = min(call.queries, CHECKED)
    model = numbers_of(call.z[head])[:tokens].astype(numpy.float64)
    if not numpy.isfinite(model).all():
        return "its output holds something other than finite numbers"
    output, sizes = recurrent_output(call, head, tokens)
    errors = numpy.abs(output - model).max(axis=1)
    sums = numpy.abs(call.recurrence.gates(head, tokens)[1]).max(axis=1).cumsum()
    longest = float((sums - numpy.concatenate([numpy.zeros(CHUNK), sums])[:tokens]).max())
    single = ROUNDING["F32"]
    of_z = max(single, ROUNDING.get(type_of(call.z), single))
    of_products = max(2.0**-10, of_z) if short else single
    bounds = of_z * numpy.abs(model).max() + sizes * (8 * of_products + single * longest)
    worst = int(numpy.argmax(errors - bounds))
    if errors[worst] <= bounds[worst]:
        return None
    return (f"the output computed from what was recorded differs from the model's own by {errors[worst]:.2g}, and "
            f"rounding explains {bounds[worst]:.2g}: this recurrence is not the one that is known")
