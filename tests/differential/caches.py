"""Caches that evict keys, in float64. The evicted keys are those that the program wrote; at each step they must be the
ones of the least attention, but for what sums in another order may differ by."""
import numpy as np

import variants

NEAR = 1e-9


def weights(head, i, keys):
    """Softmax over some keys, without the sink."""
    logits = np.where(head.allowed[i, keys], head.logits()[i, keys], -np.inf)
    if not np.isfinite(logits).any():
        return np.zeros(len(keys))
    w = np.exp(logits - logits.max())
    return w / w.sum()


def of_cache(head, evicted):
    n = head.keys
    return variants.of_pairs(head, np.arange(n)[:, None] < np.asarray(evicted)[None, :])


def h2o(head, p, drawn):
    n, budget = head.keys, p["budget"]
    recent = int(p["recent"] * budget)
    evicted = np.asarray(drawn["evicted"])
    attention, cache = np.zeros(n), []
    for t in range(n):
        cache.append(t)
        attention[cache] += weights(head, t, np.array(cache))
        gone = [j for j in cache if evicted[j] == t + 1 and t + 1 < n]
        if len(cache) <= budget:
            assert not gone, f"{gone} are evicted before the cache is full"
            continue
        if t + 1 == n:
            break  # what is evicted after the last step is evicted for nobody
        old = cache[:len(cache) - min(recent, len(cache) - 1)]
        assert len(gone) == 1 and gone[0] in old, f"{gone} are evicted after step {t}; expected one of {old}"
        assert attention[gone[0]] <= attention[old].min() + NEAR, f"{gone[0]} has not the least attention"
        cache.remove(gone[0])
    return of_cache(head, evicted)


def snapkv(head, p, drawn):
    n, budget, kernel = head.keys, p["budget"], 2 * p["reach"] + 1
    prompt = int(np.floor(p["prompt"] * n + 0.5))
    begin = max(0, prompt - p["window"])
    evicted = np.asarray(drawn["evicted"])
    made = of_cache(head, evicted)
    gone = evicted < n
    assert (evicted[gone] == prompt).all(), "keys are evicted at another place than the end of the prompt"
    if budget >= prompt:
        assert not gone.any()
        return made
    score = sum((weights(head, i, np.arange(prompt))[:begin] for i in range(begin, prompt)), np.zeros(begin))
    padded = np.pad(score, kernel // 2)
    mean = np.array([padded[j:j + kernel].sum() / kernel for j in range(begin)])
    made.multiply_adds += float(head.allowed[begin:prompt, :prompt].sum()) * head.d
    if prompt == n:
        return made
    kept = ~gone[:prompt]
    assert (kept[begin:] == (np.arange(begin, prompt) >= prompt - budget)).all(), "the last keys are not kept"
    heavy = max(0, budget - (prompt - begin))
    assert kept[:begin].sum() == min(heavy, begin), f"{kept[:begin].sum()} keys before the window are kept"
    if 0 < heavy < begin:
        assert mean[kept[:begin]].min() >= mean[~kept[:begin]].max() - NEAR, "not the heaviest keys are kept"
    return made


def turned(rows, positions, base):
    """Rotary positions, as Llama has them: the first half of a row turns with the second."""
    half = rows.shape[1] // 2
    angles = np.asarray(positions, float)[:, None] * base ** (-np.arange(half) / max(half, 1))
    x, y, rest = rows[:, :half], rows[:, half:2 * half], rows[:, 2 * half:]
    return np.hstack([x * np.cos(angles) - y * np.sin(angles), x * np.sin(angles) + y * np.cos(angles), rest])


def expected(head, p, drawn):
    n, budget, d = head.keys, p["budget"], head.d
    prompt = int(np.floor(p["prompt"] * n + 0.5))
    evicted = np.asarray(drawn["evicted"])
    made = of_cache(head, evicted)
    gone = evicted < n
    if budget >= prompt or prompt == n:
        assert not gone.any()
        return made
    assert (evicted[gone] == prompt).all(), "keys are evicted at another place than the end of the prompt"
    sinks = min(p["sinks"], prompt - 1)
    queries = head.q[sinks:prompt].astype(float)
    turn = np.eye(d)
    if p["rotary"]:
        queries = turned(queries, -np.arange(sinks, prompt), p["rotary"])
        turn = np.mean([turned(np.eye(d), np.full(d, at), p["rotary"]).T
                        for at in range(prompt, prompt + p["future"])], axis=0)
    mean, covariance = turn @ queries.mean(0), turn @ np.cov(queries.T, bias=True).reshape(d, d) @ turn.T
    first = min(p["sinks"], budget, prompt)
    keys = head.k[first:prompt].astype(float)
    score = head.scale * keys @ mean + head.scale ** 2 / 2 * np.einsum("jc,ce,je->j", keys, covariance, keys)
    if p["values"] == "counted":
        with np.errstate(divide="ignore"):
            score += np.log(np.linalg.norm(head.v[first:prompt].astype(float), axis=1))
    kept = ~gone[:prompt]
    assert kept[:first].all(), "the first keys are not kept"
    assert kept.sum() == budget, f"{kept.sum()} keys are kept"
    rest = kept[first:]
    if 0 < rest.sum() < len(rest):
        near = NEAR * np.abs(score[np.isfinite(score)]).max(initial=1)
        assert score[rest].min() >= score[~rest].max() - near, "not the keys of the largest scores are kept"
    made.multiply_adds += d * d * (2.0 * prompt - sinks - first)
    return made


FORMULAS = {f.__name__: f for f in (h2o, snapkv, expected)}
