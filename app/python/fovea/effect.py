"""What another attention in some heads does to a model: losses, next-token distributions, hidden states."""
from __future__ import annotations

import contextlib
import math
import time
from typing import Any, Callable, ContextManager, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .errors import FoveaError, need
from .reading import ReadingModel, Request, watched
from .replace import Replacing

ROWS = 64  # of logits that are looked at together, in float64
LIKELIEST = 5  # next tokens of a position


class Outputs(NamedTuple):
    """What a model gives for n tokens."""

    logits: Any  # [n, vocabulary]; None: the model does not predict the next token
    hidden: List[Any]  # [n, width] after each layer, as the model returns them
    seconds: float  # of the forward pass


class Effects:
    """Measures replacements in one model. The outputs of exact attention are kept for the text that was read last."""

    def __init__(self, model: ReadingModel) -> None:
        self._model = model
        self._of: Any = None  # what the exact outputs depend on
        self._exact: Optional[Outputs] = None
        self._ran = False

    def measure(self, request: Request, replacing: Callable[[], ContextManager[Any]]) -> Dict[str, Any]:
        """Runs the model on a text as it is, and in the context that `replacing` makes.

        Returns numbers and, for each token, lists: see `compare`; with "tokens", their number; "seconds" and
        "exact_seconds" of the two forward passes; "attention_seconds" of the variant, where the context has them; and
        "notes".
        """
        notes: List[str] = []
        inputs, ids = self._model.inputs_of(request, notes)
        of = (ids, self._state())
        if of != self._of or self._exact is None:
            self._exact, self._of = None, of
            if not self._ran:  # a first pass takes longer
                outputs_of(self._model, inputs, request, 0.0)
                self._ran = True
            self._exact = outputs_of(self._model, inputs, request, 0.0)
        with replacing() as replaced:
            after = outputs_of(self._model, inputs, request, 0.5)
        return {**compare(self._exact, after, ids), "tokens": len(ids), "seconds": after.seconds,
                "exact_seconds": self._exact.seconds, "attention_seconds": getattr(replaced, "seconds", None),
                "notes": notes + getattr(replaced, "notes", [])}

    def _state(self) -> Any:
        """Changes whenever a parameter or buffer does."""
        model = self._model.model
        return [(id(tensor), tensor._version) for tensor in (*model.parameters(), *model.buffers())]


class Replacements:
    """A variant in the place of attention, in heads that are named by layer: [[3, None], [4, [0, 1]]]; None: all heads.

    `seconds` are those that the variant took, `notes` what it said.
    """

    def __init__(self, model: Any, where: Sequence[Any], variant: str, seed: int, parameters: Dict[str, Any]) -> None:
        layers: Dict[Optional[Tuple[int, ...]], List[int]] = {}
        for layer, heads in where:
            layers.setdefault(None if heads is None else tuple(heads), []).append(layer)
        self.notes: List[str] = []
        self._all = [Replacing(model, variant, some, heads, seed, parameters, True, self.notes.append)
                     for heads, some in layers.items()]
        self._stack = contextlib.ExitStack()

    @property
    def seconds(self) -> float:
        return sum(one.seconds for one in self._all)

    def __enter__(self) -> "Replacements":
        with contextlib.ExitStack() as stack:
            for one in self._all:
                stack.enter_context(one)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)


def outputs_of(model: ReadingModel, inputs: Dict[str, Any], request: Request, share: float) -> Outputs:
    """Runs the model; progress goes from `share` to `share` + 0.5."""
    torch = need("torch", "Running a model")
    if getattr(getattr(model.model, "config", None), "is_encoder_decoder", False):
        raise FoveaError(f"{model.name} has an encoder and a decoder, of which effects are not measured; expected a "
                         "model of one stack, such as GPT, Llama or BERT")
    _finish(torch)
    begin = time.perf_counter()
    with torch.no_grad(), watched(model.model, lambda part: request.reached(share + 0.5 * part)):
        out = model.model(**inputs, output_hidden_states=True)
    _finish(torch)
    seconds = time.perf_counter() - begin
    hidden = getattr(out, "hidden_states", None) or ()
    logits = out.logits[0] if predicts_next_token(model.model) and hasattr(out, "logits") else None
    return Outputs(logits, [state[0].float() for state in hidden[1:]], seconds)


def _finish(torch: Any) -> None:
    """Waits for what runs on a GPU."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def predicts_next_token(model: Any) -> bool:
    return type(model).__name__.endswith(("ForCausalLM", "LMHeadModel", "ForConditionalGeneration"))


def compare(exact: Outputs, replaced: Outputs, ids: List[int]) -> Dict[str, Any]:
    """How far the outputs of a replacement are from exact ones. What a model does not have is None.

    loss: -log p of the next token, [n - 1], in nats; kl: KL(exact || replaced) of the distributions of the next token,
    [n], in nats; top1: whether the likeliest next token is the same, [n]; likeliest: the ids and probabilities of the
    likeliest next tokens, of both; drift: for each layer |H' - H| / |H| (Frobenius), the mean over tokens of the cosine
    of h' and h, and the smallest one; pooled_cosine: of the means of the last hidden states over all tokens;
    class_cosine: of the first token's.
    """
    result: Dict[str, Any] = dict.fromkeys(
        ("exact_perplexity", "perplexity", "exact_loss_per_token", "loss_per_token", "kl_mean", "kl_max", "kl_max_at",
         "top1_agreement", "exact_loss", "loss", "kl", "top1", "likeliest", "exact_likeliest"))
    if exact.logits is not None and len(ids) > 1:
        result.update(_compare_logits(exact.logits, replaced.logits, ids))
    pairs = list(zip(replaced.hidden, exact.hidden))
    result["drift"] = [drift_of(*pair) for pair in pairs] or None
    result["pooled_cosine"] = result["class_cosine"] = None
    if pairs:
        last, exact_last = (state.double() for state in pairs[-1])
        result["pooled_cosine"] = _cosine(last.mean(0), exact_last.mean(0))
        result["class_cosine"] = _cosine(last[0], exact_last[0])
    return result


def drift_of(replaced: Any, exact: Any) -> Dict[str, float]:
    """Returns the drift of rows [n, width]."""
    a, b = replaced.double(), exact.double()
    norm = float(b.norm())
    error = float((a - b).norm())
    lengths = a.norm(dim=1) * b.norm(dim=1)
    same = (a == b).all(1).double()  # rows of zeros
    cosines = ((a * b).sum(1) / lengths.clamp_min(1e-300)).where(lengths > 0, same)
    return {"relative": error / norm if norm else (math.inf if error else 0.0), "cosine": float(cosines.mean()),
            "least_cosine": float(cosines.min())}


def _compare_logits(exact: Any, replaced: Any, ids: List[int]) -> Dict[str, Any]:
    torch = need("torch", "Comparing outputs")
    losses: Dict[str, List[float]] = {"exact_loss": [], "loss": []}
    kl: List[float] = []
    top1: List[bool] = []
    likeliest: Dict[str, List[Any]] = {"exact_likeliest": [], "likeliest": []}
    for begin in range(0, len(ids), ROWS):
        rows = slice(begin, begin + ROWS)
        p, q = (torch.log_softmax(logits[rows].double(), -1) for logits in (exact, replaced))
        kl += (p.exp() * (p - q)).sum(-1).clamp_min(0).tolist()
        top1 += (p.argmax(-1) == q.argmax(-1)).tolist()
        following = ids[begin + 1 : begin + 1 + ROWS]
        for name, log_p in (("exact_loss", p), ("loss", q)):
            losses[name] += [-float(log_p[i, token]) for i, token in enumerate(following)]
        for name, log_p in (("exact_likeliest", p), ("likeliest", q)):
            best = log_p.topk(min(LIKELIEST, log_p.shape[-1]), -1)
            likeliest[name] += [list(zip(tokens, chances)) for tokens, chances
                                in zip(best.indices.tolist(), best.values.exp().tolist())]
    means = {name: sum(values) / len(values) for name, values in losses.items()}
    return {**losses, **likeliest, "kl": kl, "top1": top1,
            "exact_loss_per_token": means["exact_loss"], "loss_per_token": means["loss"],
            "exact_perplexity": _exp(means["exact_loss"]), "perplexity": _exp(means["loss"]),
            "kl_mean": sum(kl) / len(kl), "kl_max": max(kl), "kl_max_at": kl.index(max(kl)),
            "top1_agreement": sum(top1) / len(top1)}


def _exp(loss: float) -> float:
    return math.exp(loss) if loss < 700 else math.inf


def _cosine(a: Any, b: Any) -> float:
    length = float(a.norm() * b.norm())
    return float(a @ b) / length if length else float((a == b).all())
