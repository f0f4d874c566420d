"""What a model gives for a text, and how far the outputs of a changed model are from it."""
from __future__ import annotations

import math
from typing import Any, Dict, List, NamedTuple, Tuple

from .errors import need

ROWS = 16  # of logits that are looked at together, in float64: a few megabytes, which stay in a cache
LIKELIEST = 5  # next tokens of a position


class Outputs(NamedTuple):
    """What a model gives for n tokens."""

    logits: Any  # [n, vocabulary]; None: the model does not predict the next token
    hidden: List[Any]  # [n, width] after each layer, in the type of the model
    seconds: float  # of the forward pass


class Predictions(NamedTuple):
    """What logits say of the next token, after each token."""

    loss: List[float]  # -log p of the token that follows, in nats; the last token is followed by none
    best: List[int]  # the likeliest token; -1 if a logit is NaN
    likeliest: List[List[Tuple[int, float]]]  # ids and probabilities of the likeliest tokens

    def extend(self, more: "Predictions") -> None:
        for own, its in zip(self, more):
            own.extend(its)

    def rows(self, begin: int, end: int) -> "Predictions":
        return Predictions(*(each[begin:end] for each in self))


class Reference:
    """Outputs of exact attention. What comparisons need of these alone is computed once."""

    def __init__(self, outputs: Outputs, ids: List[int]) -> None:
        torch = need("torch", "Comparing outputs")
        self._outputs, self._ids = outputs, ids
        self._squares = [_dots(state.double(), state.double()) for state in outputs.hidden]
        self._predictions = Predictions([], [], [])
        self._log_sums: Any = None  # of exp of the logits of each token, [n, 1]
        self._excludes = False  # whether a logit is -inf: a token that cannot follow
        if not self._predicts():
            return
        self._log_sums = torch.cat([outputs.logits[rows].double().logsumexp(-1, keepdim=True)
                                    for rows in self._blocks()])
        self._excludes = any(bool((outputs.logits[rows] == -math.inf).any()) for rows in self._blocks())
        for rows in self._blocks():
            self._predictions.extend(self._predicted(rows, outputs.logits[rows], self._log_p(rows), True))

    def compare(self, replaced: Outputs, rows: bool = True) -> Dict[str, Any]:
        """How far the outputs of a replacement are from these. What the model does not have is None. What there is for
        each token is None unless `rows` is true.

        loss: -log p of the next token, [n - 1], in nats; kl: KL(exact || replaced) of the distributions of the next
        token, [n], in nats; top1: whether the likeliest next token is the same, [n]; likeliest: the ids and
        probabilities of the likeliest next tokens, of both; drift: for each layer what `drift_of` returns;
        pooled_cosine: of the means of the last hidden states over all tokens; class_cosine: of the first token's;
        token_drift: |h' - h| / |h| of the last hidden state of each token; predicts: whether there are losses.
        """
        result: Dict[str, Any] = dict.fromkeys(
            ("exact_perplexity", "perplexity", "exact_loss_per_token", "loss_per_token", "kl_mean", "kl_max",
             "kl_max_at", "top1_agreement", "exact_loss", "loss", "kl", "top1", "likeliest", "exact_likeliest"))
        result["predicts"] = self._predicts()
        if self._predicts():
            result.update(self._compare_logits(replaced.logits, rows))
        pairs = list(zip(replaced.hidden, self._outputs.hidden))
        result["drift"] = [drift_of(*pair, squares) for pair, squares in zip(pairs, self._squares)] or None
        result["pooled_cosine"] = result["class_cosine"] = result["token_drift"] = None
        if pairs:
            last, exact_last = (state.double() for state in pairs[-1])
            lengths = exact_last.norm(dim=1).clamp_min(1e-300)
            if rows:
                result["token_drift"] = ((last - exact_last).norm(dim=1) / lengths).tolist()
            result["pooled_cosine"] = _cosine(last.mean(0), exact_last.mean(0))
            result["class_cosine"] = _cosine(last[0], exact_last[0])
        return result

    def _predicts(self) -> bool:
        return self._outputs.logits is not None and len(self._ids) > 1

    def _blocks(self) -> List[slice]:
        n = len(self._ids)
        return [slice(begin, min(begin + ROWS, n)) for begin in range(0, n, ROWS)]

    def _log_p(self, rows: slice) -> Any:
        return self._outputs.logits[rows].double().sub_(self._log_sums[rows])

    def _predicted(self, rows: slice, logits: Any, log_p: Any, with_likeliest: bool) -> Predictions:
        following = self._ids[rows.start + 1 : rows.stop + 1]
        chosen = log_p.new_tensor(following).long()
        loss = (-log_p[: len(following)].gather(-1, chosen[:, None])[:, 0]).tolist()
        best = logits.argmax(-1)
        best = best.masked_fill(log_p.gather(-1, best[:, None])[:, 0].isnan(), -1).tolist()
        if not with_likeliest:
            return Predictions(loss, best, [])
        likeliest = logits.topk(min(LIKELIEST, logits.shape[-1]), -1).indices
        chances = log_p.gather(-1, likeliest).exp()
        return Predictions(loss, best, [list(zip(*row)) for row in zip(likeliest.tolist(), chances.tolist())])

    def _compare_logits(self, logits: Any, all_rows: bool) -> Dict[str, Any]:
        torch = need("torch", "Comparing outputs")
        exact, replaced = self._predictions, Predictions([], [], [])
        kl: List[float] = []
        for rows in self._blocks():
            if torch.equal(self._outputs.logits[rows], logits[rows]):
                replaced.extend(exact.rows(rows.start, rows.stop))
                kl += [0.0] * (rows.stop - rows.start)
                continue
            log_p, log_q = self._log_p(rows), torch.log_softmax(logits[rows].double(), -1)
            replaced.extend(self._predicted(rows, logits[rows], log_q, all_rows))
            terms = log_q.neg_().add_(log_p).mul_(log_p.exp())
            if self._excludes:
                terms.masked_fill_(log_p == -math.inf, 0)  # 0 log 0 is 0
            kl += terms.sum(-1).clamp_min(0).tolist()
        top1 = [one == other and one >= 0 for one, other in zip(exact.best, replaced.best)]
        worst = max(range(len(kl)), key=lambda i: math.inf if math.isnan(kl[i]) else kl[i])  # NaN is the worst
        means = [sum(each.loss) / len(each.loss) for each in (exact, replaced)]
        of_tokens = {"exact_loss": exact.loss, "loss": replaced.loss, "kl": kl, "top1": top1,
                     "exact_likeliest": exact.likeliest, "likeliest": replaced.likeliest}
        return {**(of_tokens if all_rows else {}), "exact_loss_per_token": means[0], "loss_per_token": means[1],
                "exact_perplexity": _exp(means[0]), "perplexity": _exp(means[1]),
                "kl_mean": sum(kl) / len(kl), "kl_max": kl[worst], "kl_max_at": worst,
                "top1_agreement": sum(top1) / len(top1)}


def drift_of(replaced: Any, exact: Any, exact_squares: Any) -> Dict[str, float]:
    """Returns |H' - H| / |H| (Frobenius) of rows [n, width], and the mean and the smallest of the cosines of h' and h.

    `exact_squares`: |h|^2 of each row, in float64. The cosine of equal rows is 1, that of zeros and another row 0. Rows
    with NaN or infinity have no cosine: "rows_not_finite" is their number.
    """
    finite = exact_squares.isfinite()
    if _is_same(replaced, exact) and bool(finite.all()):  # what a layer gave is used again
        return {"relative": 0.0, "cosine": 1.0, "least_cosine": 1.0, "rows_not_finite": 0}
    a, b = replaced.double(), exact.double()
    squares, products, differences = _dots(a, a), _dots(a, b), _dots(a - b, a - b)
    norm, error = math.sqrt(float(exact_squares.sum())), math.sqrt(float(differences.sum()))
    finite &= squares.isfinite()
    lengths = (squares * exact_squares).sqrt()
    none = lengths.new_zeros(())
    cosines = (products / lengths).where(lengths > 0, none).where(differences > 0, none + 1)[finite]
    return {"relative": error / norm if norm else (math.inf if error else 0.0),
            "cosine": float(cosines.mean()) if len(cosines) else math.nan,
            "least_cosine": float(cosines.min()) if len(cosines) else math.nan,
            "rows_not_finite": int((~finite).sum())}


def _is_same(a: Any, b: Any) -> bool:
    """Whether both are the same numbers at the same place of memory."""
    return (a.data_ptr(), a.dtype, a.shape, a.stride()) == (b.data_ptr(), b.dtype, b.shape, b.stride())


def _dots(a: Any, b: Any) -> Any:
    return need("torch", "Comparing outputs").linalg.vecdot(a, b)


def _exp(loss: float) -> float:
    return math.inf if loss >= 700 else math.exp(loss)


def _cosine(a: Any, b: Any) -> float:
    length = float(a.norm() * b.norm())
    return float(a @ b) / length if length else float((a == b).all())
