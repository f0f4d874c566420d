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


FORMULAS = {f.__name__: f for f in (h2o, snapkv)}
