"""Every number that is reported of a head, from P, Z and log-sum-exps, in float64.

A figure is (value, error): how far the program's may be from it. Those of written P and Z are sums of the same float32
numbers in float64; where the program computes from q and k again, errors are those of a logit.
"""
import math

import numpy as np

import sampling

UNIT = 2.0 ** -24  # half of the distance of float32 numbers at 1
LEAST = 2.0 ** -149  # float32 number
GREATEST = float(np.finfo(np.float32).max)
SUMS = 1e-10  # of sums of up to 10^4 terms in float64, in another order, and of square roots of what cancels in them
NORM = 4e-6  # of quotients and squares of norms that the program finds by iterations, each to about 1e-6
ROWS_OF_REACH = 256  # from how many the two-hop reach is found
ROUNDED_SUM = 1e-5  # a row of weights in float32 sums to 1 within this


def quantile(values, share):
    """The least of the values that the share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered) - 1e-9) - 1)]


def logit_error(head, made):
    """Of an exponent of P, against float64: roundings of d products and their sum, of exp and of a sum of n, relative
    to the largest product. The factor of 4 is for bounds that all roundings at once would reach."""
    magnitude = max(head.magnitude(), made.magnitude or 0)
    return 4 * UNIT * ((4 + math.sqrt(head.d)) * magnitude + head.keys + 16)


def rounding(head, made):
    """Of an entry of P, relative: of its exponent and of the sum of the row."""
    return math.expm1(min(2 * logit_error(head, made), 5))


def of_outputs(exact, approximate):
    """`exact` and `approximate`: Z in float64."""
    difference = approximate - exact
    errors, norms = (difference ** 2).sum(axis=1), (exact ** 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.where(errors == 0, 0, np.sqrt(errors / norms))
        whole = math.inf if norms.sum() == 0 else math.sqrt(errors.sum() / norms.sum())
    figures = {"output_rel_fro": 0.0 if errors.sum() == 0 else whole, "output_max_abs": np.abs(difference).max()}
    with np.errstate(divide="ignore", invalid="ignore"):
        figures["output_rel_l1"] = 0.0 if errors.sum() == 0 else np.abs(difference).sum() / np.abs(exact).sum()
    for name, value in (("p50", quantile(rows, 0.5)), ("p90", quantile(rows, 0.9)), ("max", rows.max())):
        figures["row_rel_error." + name] = value
    figures = {name: (value, SUMS * value if np.isfinite(value) else 0) for name, value in figures.items()}
    return figures | directions(exact, approximate) | place_of_largest(np.abs(difference))


def cosine(a, b):
    """1 of equal ones, 0 where one of two others is zero."""
    norms = np.linalg.norm(a) * np.linalg.norm(b)
    return 1.0 if (a == b).all() else 0.0 if norms == 0 else float(np.clip((a * b).sum() / norms, -1, 1))


def directions(exact, approximate):
    near = 1e-12
    figures = {"output_cosine": (cosine(approximate, exact), near),
               "output_min_cosine": (min(cosine(a, b) for a, b in zip(approximate, exact)), near)}
    centred = [m - m.mean() for m in (approximate, exact)]
    spread = [(c ** 2).mean() / max(m.mean() ** 2, 1e-300) for c, m in zip(centred, (approximate, exact))]
    if (approximate == exact).all():
        figures["output_pearson"] = (1.0, 0)
    elif min(spread) <= 2.0 ** -100 or not all(c.any() for c in centred):
        figures["output_pearson"] = (None, 0)
    else:  # the means are rounded
        figures["output_pearson"] = (cosine(*centred), near + 1e-14 / math.sqrt(min(spread)))
    return figures


def place_of_largest(errors):
    if not errors.max() > 0:
        return {}
    place = np.unravel_index(errors.argmax(), errors.shape)
    near = (errors >= errors.max() * (1 - SUMS)).sum() > 1  # rounding decides
    return {f"output_max_abs_at[{axis}]": (int(index), math.inf if near else 0) for axis, index in enumerate(place)}


def estimate(name, found, error, rows, standard_error=None):
    """A figure that is a mean over rows, and its standard error if these are a sample."""
    figures = {name: (found[0], error)}
    if rows.sampled:
        # Rows have errors, and where nearly all of them have the same number little else is left.
        figures[standard_error or name + "_standard_error"] = (found[1], SUMS + 1e-6 * (found[1] or 0) + error)
    return figures


def by_weight(weights, count):
    """The keys of the largest positive weights in their order, the lower key first among equals."""
    if count < len(weights):
        keys = np.flatnonzero(weights >= np.partition(weights, -count)[-count])
    else:
        keys = np.arange(len(weights))
    keys = keys[np.argsort(-weights[keys], kind="stable")][:count]
    return keys[weights[keys] > 0]


def recall(exact, approximate, count):
    """The recall of a row, from its keys by weight; 1 if the query has no key."""
    wanted = exact[:count]
    return len(np.intersect1d(wanted, approximate[:len(wanted)])) / len(wanted) if len(wanted) else 1.0


def with_sink(head, p, lse):
    """P with what the sink takes as one more column; as it is without a sink. Without sums, rows leave it what they do
    not have."""
    if head.sink is None:
        return p
    left = np.clip(1 - p.sum(axis=1), 0, 1) if lse is None else np.minimum(1, np.exp(head.sink - lse))
    return np.column_stack([p, left])


def divergence(p, q):
    """KL(p || q) of rows, and the sum of the magnitudes of their terms."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        terms = np.where(p > 0, p * np.log(p / q), 0)
    finite = np.where(np.isfinite(terms), np.abs(terms), 0)
    return terms.sum(axis=1), finite.sum(axis=1)


def mean_divergence(name, p, q, sample):
    rows, magnitudes = divergence(p, q)
    infinite = np.isinf(rows)
    mean = (None, None) if infinite.any() else sample.mean(rows)
    figures = estimate(name + ".mean", mean, SUMS + 1e-13 * magnitudes.mean(), sample, name + ".standard_error")
    figures[name + ".infinite_rows"] = (int(infinite.sum()), 0)
    if sample.sampled:
        figures |= estimate(name + ".infinite_share", sample.mean(infinite), SUMS, sample)
    return figures


def kept_mass(head, p, support, rows):
    """The share of exact weights on the support, of some rows; from logits where a sink leaves them no digits."""
    kept = np.ones(len(rows))
    for at, i in enumerate(rows):
        if not head.allowed[i].any():
            continue
        weights = p[i]
        if weights.max() < 1e-30:
            logits = np.where(head.allowed[i], head.logits()[i], -np.inf)
            weights = np.exp(logits - logits.max())
        kept[at] = min(1, weights[support[i]].sum() / weights.sum())
    return kept


class Written:
    """P, Z and log-sum-exps of a head as the program wrote them, in float64; None where there are none."""

    def __init__(self, exact, approximate, head):
        self.exact, self.approximate = exact.of_head("p", head), approximate.of_head("p", head)
        self.exact_z, self.approximate_z = exact.of_head("z", head), approximate.of_head("z", head)
        self.exact_lse, self.approximate_lse = exact.of_head("lse", head), approximate.of_head("lse", head)

    def lse_of(self, which, rows):
        lse = self.exact_lse if which == "exact" else self.approximate_lse
        return None if lse is None else lse[rows]


def sample_of(head, written):
    """The rows that metrics read: of a long head those that may have much of the error more often."""
    if head.queries * head.keys <= sampling.MOST_ENTRIES:
        return sampling.Rows(head.queries, head.keys)
    return sampling.SizedRows(sampling.sizes(written), head.keys)


def of_attention(head, made, written):
    sample = sample_of(head, written)
    some = sample.rows if sample.sampled else slice(None)
    exact, approximate = written.exact[some], written.approximate[some]
    p = with_sink(head, exact, written.lse_of("exact", some))
    q = with_sink(head, approximate, None if made.given else written.lse_of("approximate", some))
    error, standard_error = sample.ratio(((approximate - exact) ** 2).sum(axis=1), (exact ** 2).sum(axis=1))
    if (approximate == exact).all():
        error = 0.0
    relative = math.sqrt(error)
    if standard_error and relative > 0:
        standard_error /= 2 * relative
    variation = np.abs(q - p).sum(axis=1) / 2
    variation = np.where((variation > 1) & (variation < 1 + ROUNDED_SUM), 1, variation)
    near = 1e-14  # of what a sink leaves beside it, where it takes nearly all
    figures = estimate("attention_rel_fro", (relative, standard_error),
                       SUMS * relative if np.isfinite(relative) else 0, sample)
    figures |= estimate("attention_tv.mean", sample.mean(variation), SUMS * variation.mean() + near, sample,
                        "attention_tv.standard_error")
    figures |= estimate("attention_tv.p90", sample.quantile(variation, 0.9) if sample.sampled else
                        (quantile(variation, 0.9), 0), SUMS * variation.max() + near, sample)
    figures["attention_tv.max"] = (variation.max(), SUMS * variation.max() + near)
    if (approximate < 0).any():  # no divergence is defined
        figures |= estimate("attention_kl.mean", (None, None), 0, sample, "attention_kl.standard_error")
        figures["attention_kl.infinite_rows"] = (0, 0)
        if sample.sampled:
            figures |= estimate("attention_kl.infinite_share", (0.0, 0.0), 0, sample)
    else:
        figures |= mean_divergence("attention_kl", p, q, sample) | mean_divergence("attention_reverse_kl", q, p, sample)
    mass = kept_mass(head, written.exact, made.support, sample.rows)
    scarce = exact.max(axis=1, initial=0) < 1e-30
    figures |= estimate("mass_kept", sample.mean(mass), SUMS + (logit_error(head, made) if scarce.any() else 0), sample)
    tops = [(by_weight(a, 64), by_weight(b, 64)) for a, b in zip(exact, approximate)]
    for count in (1, 8, 64):
        rows = [recall(a, b, count) for a, b in tops]
        figures |= estimate(f"top{count}_recall", sample.mean(rows), SUMS, sample)
    figures["density"] = (made.support.sum() / made.support.size, SUMS)
    equal = equal_rows(head.allowed[some], exact)
    if equal:
        figures["rows_of_equal_weights"] = (equal, 0)
    if head.tokens is not None:
        figures |= section_masses(head, written.approximate)
    if sample.sampled:
        figures["sampled_rows"] = (len(sample.rows), 0)
    return figures


def section_masses(head, weights):
    """The weight on keys that are tokens, on those behind them, and what is left of 1 for a sink."""
    some = head.allowed.any(axis=1)
    of_tokens, of_entries = (part.sum(axis=1)[some] for part in (weights[:, :head.tokens], weights[:, head.tokens:]))
    left = {} if head.sink is None else {"sink_mass": (np.maximum(1 - of_tokens - of_entries, 0).mean(), SUMS)}
    return {"token_mass": (of_tokens.mean(), SUMS), "entry_mass": (of_entries.mean(), SUMS), **left}


def equal_rows(all_allowed, exact):
    """Rows of at least two keys whose weights are all equal within 1e-6, some 16 roundings."""
    count = 0
    for weights, allowed in zip(exact, all_allowed):
        own = weights[allowed]
        if len(own) > 1 and own.max() <= np.float32(own.min()) * np.float32(1 + 1e-6):
            count += 1
    return count


def exactly(**figures):
    return {name: (float(value), SUMS * abs(value)) for name, value in figures.items()}


def gini(counts):
    """Mean absolute difference of all pairs over twice the mean."""
    ordered = np.sort(counts)
    n = len(ordered)
    return float((ordered * (2 * np.arange(1, n + 1) - n - 1)).sum() / (n * ordered.sum()))


def of_gates(head, drawn, parameters, p):
    """The median half-life of tokens, where something is erased its mean share, and the shares of Fenwick levels."""
    decay = drawn["log_decay"].reshape(head.keys, -1)
    lives = np.sort(math.log(2) * decay.shape[1] / -decay.sum(axis=1))
    figures = {"half_life": (lives[head.keys // 2], 2e-7 * lives[head.keys // 2])}
    if "vectors" in parameters:
        squares = (head.k ** 2).sum(axis=1)
        if parameters["vectors"] == "unit":
            squares = (squares > 0).astype(float)
        figures["erased_share"] = ((drawn["beta"] * squares).mean(), 2e-7 * (drawn["beta"] * squares).mean())
    if "level_weights" in drawn:
        token = np.arange(head.keys)
        differing = token[:, None] ^ token
        level = np.where(differing > 0, np.frexp(differing.astype(np.float32))[1], 0)
        magnitudes = np.tril(np.abs(p))
        rows = sampling.Rows(head.keys, head.keys)
        whole = magnitudes.sum(axis=1)[rows.rows]
        for own in range(math.ceil(math.log2(head.keys)) + 1):
            share, standard_error = rows.ratio(np.where(level == own, magnitudes, 0).sum(axis=1)[rows.rows], whole)
            known = (share, standard_error) if math.isfinite(share) else (None, None)
            figures |= estimate(f"level_share_{own}", known, SUMS, rows)
    return figures


def of_leaves(made):
    queries, keys, count = made.leaves
    q, k = np.bincount(queries, minlength=count).astype(float), np.bincount(keys, minlength=count).astype(float)
    chi = (q * k).sum() / (q.sum() * k.sum())
    return exactly(chi=chi, effective_leaves_of_queries=q.sum() ** 2 / (q ** 2).sum(),
                   effective_leaves_of_keys=k.sum() ** 2 / (k ** 2).sum(), gini_of_queries=gini(q),
                   gini_of_keys=gini(k), queries_without_keys=(~made.support.any(axis=1)).sum(),
                   empty_leaves=(k == 0).sum(), leaves_without_queries=(q == 0).sum(), largest_leaf=k.max(),
                   effective_leaves=1 / chi if chi else math.inf)


def of_key_sets(head, made):
    """Only where not all that exact attention sees is attended."""
    if made.support.sum() == head.allowed.sum():
        return {}
    sizes = made.support.sum(axis=1)
    figures = exactly(row_size_mean=sizes.mean(), row_size_max=sizes.max())
    if head.queries == head.keys:
        hops = made.support.astype(float)
        rows = sampling.Rows(head.queries, head.keys, most=ROWS_OF_REACH)
        reached = ((hops[rows.rows] @ hops > 0) & head.allowed[rows.rows]).sum(axis=1)
        allowed = head.allowed.sum(axis=1)[rows.rows]
        figures |= estimate("two_hop_reach", rows.ratio(reached, allowed) if allowed.any() else (0, 0), SUMS, rows)
    return figures


def of_selection(head, made, written):
    """What share of as many keys of the largest exact weights is selected, beside the figures of sets of keys."""
    sets = of_key_sets(head, made)
    return sets | of_recall(head, made, written) if sets else {}


def of_recall(head, made, written):
    """Only where not all that exact attention sees is selected."""
    if made.support.sum() == head.allowed.sum():
        return {}
    rows = sampling.Rows(head.queries, head.keys)

    def recall(i, selected):
        count = int(selected.sum())
        most = by_weight(written.exact[i], count) if count else []
        return selected[most].mean() if len(most) else 1
    figures = estimate("selected_recall", rows.mean([recall(i, made.support[i]) for i in rows.rows]), SUMS, rows)
    if made.chosen is None:
        return figures
    size, counts = made.chosen
    oracle = [recall(i, heaviest_blocks(written.exact[i], head.allowed[i], size, counts[i])) for i in rows.rows]
    return figures | estimate("oracle_recall", rows.mean(oracle), SUMS, rows)


def heaviest_blocks(weights, allowed, size, count):
    """The keys of the blocks of the largest mass that a query may attend, the first among equal ones."""
    masses = [(-np.cumsum(weights[b:b + size], dtype=float)[-1], b) for b in range(0, len(weights), size)
              if allowed[b:b + size].any()]
    kept = np.zeros(len(weights), bool)
    for _, b in sorted(masses)[:count]:
        kept[b:b + size] = allowed[b:b + size]
    return kept


def of_evictions(head, evicted, written):
    """What exact attention wants of keys that a cache has evicted."""
    evicted = np.asarray(evicted)
    if (evicted == head.keys).all():
        return {}
    gone = evicted[None, :] <= np.arange(head.queries)[:, None]
    weights = np.asarray(written.exact, float)
    top = weights.argmax(axis=1)
    missed = gone[np.arange(head.queries), top] & (weights.max(axis=1) > 0)
    rows = sampling.Rows(head.queries, head.keys)
    first = float(rows.rows[np.flatnonzero(missed[rows.rows])[0]]) if missed[rows.rows].any() else math.inf
    mass = np.where(gone, weights, 0).sum(axis=1)[rows.rows]
    figures = estimate("evicted_mass", rows.mean(mass), SUMS, rows) | estimate(
        "evicted_top", rows.mean(missed[rows.rows]), SUMS, rows) | {"first_miss": (first, 0)}
    if rows.sampled:  # the first of the sample is no mean, and has no standard error
        figures["first_miss_standard_error"] = (None, 0)
    return figures


def of_levels(head, made, written, coarse_query):
    """Of a hierarchy of clusters: how much attention each level has, and how logits spread within its blocks."""
    top_level = int(made.levels.max())
    if top_level == 0:
        return {}
    figures = {}
    token = np.arange(head.keys)
    logits = head.logits()
    rows = sampling.Rows(head.queries, head.keys)
    for level in range(top_level + 1):
        own = (made.levels == level) & head.allowed
        for name, p in (("exact", written.exact), ("approximate", written.approximate)):
            mass = np.minimum(1, np.where(own, p, 0).sum(axis=1))[rows.rows]
            figures |= estimate(f"level_mass_{name}_{level}", rows.mean(mass), SUMS, rows)
        if level == 0:
            continue
        row = token if coarse_query == "fine" and head.causal else token >> level
        block = row[:, None] * (head.keys + 1) + (token >> level)[None]
        _, where = np.unique(block[own], return_inverse=True)
        count, one = np.bincount(where), logits[own]
        mean = np.bincount(where, one) / count
        variance = np.bincount(where, (one - mean[where]) ** 2) / count
        figures |= of_spread(f"block_spread_{level}", variance, count, logit_error(head, made))
    return figures


def of_spread(name, variance, count, rounding):
    """The root of the mean variance of a level's blocks, of which as many as have 2^21 logits are drawn."""
    spread = math.sqrt(variance.mean())
    if count.sum() <= 2 ** 21:
        # Logits are found in float64 or float32; a spread of 0 has the spread of their roundings.
        return {name: (spread, rounding)}
    draws = max(64, int(2 ** 21 // min(count.mean(), 32 * 32)))
    expected = variance.std() / math.sqrt(draws) / (2 * spread)
    # Which blocks are drawn is left to the program. Its estimate is off by 6 standard errors once in 5e8; of blocks with
    # more than 32 tokens a side some logits are drawn, so that the standard error is larger than that of whole blocks.
    whole = count.max() <= 32 * 32
    return {name: (spread, 6 * expected if whole else 0.05 * spread),
            name + "_standard_error": (expected, 0.3 * expected) if whole else (0.01 * spread, 0.01 * spread)}


def of_sampling(head, made, p, written):
    """HyperAttention's own: alpha, kappa, ...; `p` is that of the formula of exact attention."""
    relative = 2 * logit_error(head, made)
    some = head.allowed.any(axis=1)
    squares = (p ** 2).sum(axis=0).max()
    figures = {"alpha": (head.keys * squares, relative * head.keys * squares + 1e-30),
               "column_norm": (squares, relative * squares + 1e-30)}
    logits = np.where(head.allowed, head.logits(), -np.inf)
    with np.errstate(divide="ignore"):
        outside = np.logaddexp.reduce(np.where(made.blocks, -np.inf, logits), axis=1)[some]
    if head.causal or not len(outside):
        figures["kappa"] = figures["lemma_1_samples"] = (None, 0)
    else:
        with np.errstate(over="ignore"):
            kappa = math.inf if np.isinf(outside).any() else float(np.exp(outside.max() - outside.min()))
        figures["kappa"] = (kappa, relative * kappa if np.isfinite(kappa) else 0)
        # Lemma 1: kappa^7 alpha^2 / eps^6; each factor has its own error.
        with np.errstate(over="ignore"):
            needed = np.float64(kappa) ** 7 * (head.keys * squares) ** 2
        figures["lemma_1_samples"] = (needed, 10 * relative * needed + 1e-30 if np.isfinite(needed) else 0)
    mass = np.where(made.blocks, p, 0).sum(axis=1)[some]
    figures["block_mass"] = (mass.mean() if some.any() else None, relative)
    with np.errstate(over="ignore", invalid="ignore"):
        errors = np.abs(np.expm1(written.approximate_lse - written.exact_lse))[some]
    figures["row_sum_error"] = (errors.mean() if some.any() else None, SUMS * max(1, errors.max(initial=0)))
    if made.rows is not None:
        near = 4 * logit_error(head, made)
        floored, capped = made.rows["floored"], made.rows["capped"]
        figures["floored_rows"] = ((floored < 0).mean(), (np.abs(floored) < near).mean() + SUMS)
        share = (capped > 0).mean() if capped.size else 0.0
        figures["capped_entries"] = (share, ((np.abs(capped) < near).mean() if capped.size else 0) + SUMS)
    return figures | of_norms(head, written, relative)


def of_norms(head, written, relative):
    """From singular values of what was written; squares are summed of weights that are found again."""
    exact, approximate = written.exact, written.approximate
    if exact.size > sampling.MOST_ENTRIES:
        return dict.fromkeys(("stable_rank", "operator_error", "row_sum_epsilon", "spectral_epsilon", "value_epsilon",
                              "lemma_2_samples"), (None, 0))
    norm = np.linalg.norm(exact, 2)
    rank = (exact ** 2).sum() / norm ** 2 if norm else None
    figures = {"stable_rank": (rank, (NORM + relative) * (rank or 0))}
    error = np.linalg.norm(approximate - exact, 2) / norm if norm else None
    figures["operator_error"] = (error, NORM * (error or 0))
    # Eq. 2: of D~^-1 A for D^-1 A, whose rows differ by the factor of their sums.
    some = head.allowed.any(axis=1)
    factors = np.ones(head.queries)
    with np.errstate(over="ignore", invalid="ignore"):
        factors[some] = np.exp((written.exact_lse - written.approximate_lse)[some])
    if not norm:
        figures["row_sum_epsilon"] = (None, 0)
    elif np.isinf(factors).any() or (np.abs((factors - 1)[:, None] * exact) > GREATEST).any():  # entries are kept in float32
        figures["row_sum_epsilon"] = (math.inf, 0)
    else:
        of_sums = np.linalg.norm((factors - 1)[:, None] * exact, 2) / norm
        # Each lse is rounded to float32, and may be summed in another order than where it was written.
        figures["row_sum_epsilon"] = (of_sums, NORM * of_sums + relative)
    if head.v is None:
        return figures | dict.fromkeys(("spectral_epsilon", "value_epsilon", "lemma_2_samples"), (None, 0))
    figures["lemma_2_samples"] = (head.dv * rank if norm else None, head.dv * (NORM + relative) * (rank or 0))
    of_values = np.linalg.norm(head.v, 2)

    def epsilon(apart):
        if of_values == 0:
            return 0.0, 0
        value = np.linalg.norm(apart, 2) / (norm * of_values) if norm else None
        return value, NORM * (value or 0)

    figures["spectral_epsilon"] = epsilon(written.approximate_z - written.exact_z)
    # Eq. 3: of the sampled values, both divided by the estimated sums; Z~ is rounded to float32 there.
    if of_values and np.isinf(factors).any():
        figures["value_epsilon"] = (math.inf, 0)
    else:
        value, allowed = epsilon(written.approximate_z - np.where(some, factors, 1)[:, None] * written.exact_z)
        rounding = 0
        if of_values and norm:
            rounding = (4 * UNIT * np.linalg.norm(written.approximate_z)
                        + relative * np.linalg.norm(written.exact_z)) / (norm * of_values)
        figures["value_epsilon"] = (value, allowed + rounding)
    return figures


def from_own_output(written, own):
    """Of the model's output to Z, over its largest entry; rows without a key aside, where models leave anything."""
    lse = written.approximate_lse
    rows = slice(None) if lse is None else lse > -np.inf
    apart, largest = np.abs(own - written.approximate_z)[rows].max(initial=0), np.abs(own[rows]).max(initial=0)
    return (apart / largest if largest > 0 else apart), SUMS * apart


ROUNDING = {"F64": 2.0 ** -53, "F32": UNIT, "F16": 2.0 ** -11, "BF16": 2.0 ** -8}


def of_runs(first, others, budget, near):
    """In how many rows other runs differ from the first one, and by how much (core/analysis/run_figures.h)."""
    differ = [(first.astype(np.float32).view(np.uint32) != other.astype(np.float32).view(np.uint32)).any(1)
              for other in others]
    apart = np.stack([np.linalg.norm(other - first, axis=1) for other in others])
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(apart == 0, 0, apart / (2 * budget)).max(0)
        spread = np.linalg.norm(apart, axis=1).max() / np.linalg.norm(first) if apart.any() else 0.0
    return {"runs": (len(others) + 1, 0),
            "rows_that_differ": (np.any(differ, 0).sum(), 0),
            "rows_that_differ_beyond_rounding": ((shares > 1).sum(), (np.abs(shares - 1) < near).sum()),
            "spread_of_runs": (spread, 1e-12 * spread if np.isfinite(spread) else 0)}


def of_imported(layer, head, exact, made, written):
    """How much of the errors of a result rounding to its type explains (core/analysis/rounding_budget.h)."""
    figures = {}
    if made.z is not None:
        norms = np.linalg.norm(head.v, axis=1)
        logit = head.d * UNIT * head.scale * np.linalg.norm(head.q, axis=1) * np.linalg.norm(head.k, axis=1).max()
        u = ROUNDING[layer.type]
        weights = 2 * u + 4 * logit + 2 * head.keys * UNIT
        budget = weights * (exact.p @ norms) + u * np.linalg.norm(written.exact_z, axis=1)
        budget += 2 * head.keys * math.sqrt(head.dv) * LEAST
        if layer.type == "F16":
            budget += 2.0 ** -25 * (norms.sum() + math.sqrt(head.dv))
        errors = np.linalg.norm(written.approximate_z - written.exact_z, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(errors == 0, 0, errors / budget)
        # The budget holds weights, and is kept, in float32, where weights below 2^-126 may count as 0.
        tiny = np.where(exact.p < 2.0 ** -126, exact.p, 0) @ norms
        near = 1e-6 + 2 * logit_error(head, exact) + LEAST / budget + weights * tiny / (budget - weights * tiny)
        figures["rows_beyond_rounding"] = ((shares > 1).sum(), (np.abs(shares - 1) < near).sum())
        figures["largest_share_of_rounding"] = (shares.max(), (near * shares).max())
        if layer.runs is not None:
            figures |= of_runs(written.approximate_z, layer.runs[:, head.index], budget, near)
    if made.lse is not None:
        with np.errstate(invalid="ignore"):
            apart = np.where(made.lse == written.exact_lse, 0, np.abs(made.lse - written.exact_lse))
        figures["lse_max_abs"] = (apart.max(), 0)
    return figures
