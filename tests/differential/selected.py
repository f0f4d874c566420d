"""Attention over keys that a score selects, in float64.

The scores are those of the formulas. What the program selected, as it wrote it, must be the largest of them; where
scores are equal but for rounding, the program's choice is taken.
"""
import math

import numpy as np

import variants

NEAR = 1e-9  # relative: what sums in another order may differ by


def check_largest(taken, scores, possible, count, first_of_equal=False, near=NEAR):
    """That `taken`, a row of booleans, are the `count` largest of the possible scores."""
    assert not (taken & ~possible).any(), "what a query may not attend is selected"
    assert taken.sum() == min(count, possible.sum()), f"{taken.sum()} are selected"
    left = possible & ~taken
    if left.any() and taken.any():
        least, most = scores[taken].min(), scores[left].max()
        largest = np.abs(scores[possible & np.isfinite(scores)]).max(initial=0)
        assert least >= most - near * largest, f"{least} is selected, and {most} is not"
        if first_of_equal and least == most:
            tied = taken[possible & (scores == most)]
            assert (np.diff(tied.astype(int)) <= 0).all(), "not the first of equal scores are selected"


def products(q, k):
    """q.k, added up feature by feature, since equal keys must have equal scores."""
    total = np.zeros((len(q), len(k)))
    for c in range(q.shape[1]):
        total += q[:, c:c + 1] * k[None, :, c]
    return total


def starts(keys, size):
    return np.arange(0, keys, size)


def of_blocks(head, drawn, size, count, scores, own, near=NEAR):
    """scores: [queries, blocks]."""
    begins = starts(head.keys, size)
    if count >= len(begins):
        return variants.exact(head, {}, {}), False
    possible = np.logical_or.reduceat(head.allowed, begins, axis=1)
    selected, values = drawn["selected_blocks"], drawn["selected_scores"]
    taken = np.zeros((head.queries, len(begins)), bool)
    for i, row in enumerate(selected):
        found = row[row >= 0]
        taken[i, found] = True
        its = scores[i].astype(float).copy()
        place = i + head.keys - head.queries
        if own and place >= 0 and possible[i, place // size]:
            its[place // size] = np.inf
        check_largest(taken[i], its, possible[i], count, own, near)
        with np.errstate(over="ignore", invalid="ignore"):
            written = values[i][:len(found)].astype(float)
            agree = np.abs(written - scores[i, found]) <= (1e-6 + near) * np.abs(scores[i, found]) + 1e-37
        assert agree.all(), f"scores of query {i} are {written}; expected {scores[i, found]}"
    kept = taken[:, np.arange(head.keys) // size]
    made = variants.of_pairs(head, kept)
    made.chosen = size, taken.sum(axis=1)
    return made, possible


def admitted(head):
    return float(head.allowed.sum()) * head.d


def moba(head, p, drawn):
    begins = starts(head.keys, p["block"])
    means = np.add.reduceat(head.k, begins, axis=0) / np.diff(np.append(begins, head.keys))[:, None]
    means = means.astype(np.float32).astype(float)
    made, possible = of_blocks(head, drawn, p["block"], p["blocks"], products(head.q, means), True)
    if possible is not False and possible.any():
        made.multiply_adds += float(possible.sum()) * head.d + head.keys * head.d
    return made


def msa(head, p, drawn):
    begins = starts(head.keys, p["block"])
    most = np.maximum.reduceat(np.where(head.allowed, products(head.q, head.k), -np.inf), begins, axis=1)
    made, possible = of_blocks(head, drawn, p["block"], p["blocks"], most, True)
    made.multiply_adds += 0 if possible is False else admitted(head)
    return made


def quest(head, p, drawn):
    begins = starts(head.keys, p["page"])
    least, most = np.minimum.reduceat(head.k, begins, axis=0), np.maximum.reduceat(head.k, begins, axis=0)
    bound = np.zeros((head.queries, len(begins)))
    for c in range(head.d):
        query = head.q[:, c:c + 1]
        bound += np.maximum(query * least[None, :, c], query * most[None, :, c])
    every = np.maximum.reduceat(products(head.q, head.k), begins, axis=1)
    assert (every <= bound + NEAR * np.abs(bound) + 1e-300).all(), "the bound of a page is below one of its products"
    made, possible = of_blocks(head, drawn, p["page"], p["pages"], bound, True)
    made.multiply_adds += 0 if possible is False else 2 * float(possible.sum()) * head.d
    return made


def weights(head):
    """The weights of exact attention, without its sink."""
    return variants.softmax(head.rule(head.scale * products(head.q, head.k)), head.allowed.astype(float), None)[0]


def weight_error(head):
    """Relative, of these weights: the program has biases as float32."""
    return math.expm1(min(2 ** -22 * (1 + head.magnitude()), 5))


def oracle(head, p, drawn):
    begins = starts(head.keys, p["block"])
    mass = np.add.reduceat(weights(head), begins, axis=1)
    # Finding them is not counted.
    return of_blocks(head, drawn, p["block"], p["blocks"], mass, False, weight_error(head))[0]


def nsa(head, p, drawn):
    size, width = p["block"], head.d + head.dv
    begins = starts(head.keys, size)
    counts = np.diff(np.append(begins, head.keys))
    place, key = variants.places(head)
    block = np.arange(len(begins))[None]
    sees = block < ((place + 1) // size if head.causal else len(begins))
    sees = np.broadcast_to(sees, (head.queries, len(begins)))
    means = np.add.reduceat(head.k, begins, axis=0) / counts[:, None]

    def weights_of(means):  # each key has the logit of its block's mean
        return variants.softmax(head.scale * products(head.q, means), np.where(sees, counts, 0).astype(float), None)[0]

    scores = weights_of(means.astype(np.float32).astype(float))
    own = np.where(place < 0, -1, place // size)
    always = 1 + 1e-7  # written as 1, and before weights that round to 1
    scores[(block == 0) | (block == own) | (block == own - 1) & (own > 0)] = always
    selected, possible = of_blocks(head, drawn, size, p["blocks"], scores, True)
    near = variants.of_pairs(head, abs(place - key) < p["window"])
    gates = drawn["gates"].astype(float)
    spread = (weights_of(means) / counts)[:, np.arange(head.keys) // size]
    made = variants.Attention(gates[:, :1] * spread + gates[:, 1:2] * selected.p + gates[:, 2:] * near.p, head.allowed)
    made.multiply_adds = selected.multiply_adds + near.multiply_adds + float(sees.sum()) * width
    made.multiply_adds += 3 * head.queries * head.dv
    if sees.any():  # each row of a level is added once into a mean of the next
        made.multiply_adds += sum(-(-head.keys // (1 << level)) for level in range(size.bit_length() - 1)) * width
    if possible is not False and possible.any():
        made.multiply_adds += float(possible.sum()) * head.d + head.keys * head.d
    return made


def dsa(head, p, drawn):
    if p["tokens"] >= head.keys:
        return variants.exact(head, {}, {})
    scores = products(head.q, head.k)
    if p["activation"] == "relu":
        scores = np.maximum(scores, 0)
    kept = np.zeros((head.queries, head.keys), bool)
    for i, row in enumerate(drawn["selected_keys"]):
        kept[i, row[row >= 0]] = True
        check_largest(kept[i], scores[i], head.allowed[i], p["tokens"], first_of_equal=True)
    made = variants.of_pairs(head, kept)
    made.multiply_adds += admitted(head)
    return made


def lines(p, name, mass, forced, count, drawn, near):
    """[n] whether a line is kept."""
    n = len(mass)
    kept = drawn[name] == 1
    written = drawn[name + "_mass"].astype(float)
    assert (np.abs(written - mass) <= (1e-6 + near) * mass + 1e-37).all(), f"{name}_mass is not that of the last queries"
    forced = min(forced, n)
    first = np.arange(n) < forced
    if p["rule"] == "mass":
        count = int(kept.sum())
        enough = p["gamma"] * mass.sum()
        slack = near * mass.sum()
        assert mass[kept].sum() >= enough - slack, f"{name}: too little mass"
        more = kept & ~first
        if count > max(1, forced):
            assert mass[kept].sum() - mass[more].min() <= enough + slack, f"{name}: more lines than are needed"
        assert count >= max(1, forced), f"{name}: {count} lines"
    check_largest(kept, np.where(first, np.inf, mass), np.ones(n, bool), count, near=near)
    return kept


def vertical_slash(head, p, drawn):
    n, last = head.keys, min(p["last"], head.keys)
    row = weights(head)[n - last:]
    distance = np.abs(np.arange(n - last, n)[:, None] - np.arange(n)[None])
    of_distances = np.bincount(distance.ravel(), row.ravel(), minlength=n)
    vertical = lines(p, "vertical", row.sum(axis=0), p["first"], p["vertical"], drawn, weight_error(head))
    slash = lines(p, "slash", of_distances, p["nearest"], p["slash"], drawn, weight_error(head))
    i, j = variants.places(head)
    made = variants.of_pairs(head, vertical[None] | slash[np.abs(i - j)])
    made.multiply_adds += float(head.allowed[n - last:].sum()) * head.d
    return made


def map_of(head, drawn, rows, cols):
    """The map that the program wrote, the blocks that have a pair, and the map for each pair of tokens."""
    possible = np.logical_or.reduceat(np.logical_or.reduceat(head.allowed, starts(head.queries, rows), axis=0),
                                      starts(head.keys, cols), axis=1)
    taken = drawn["block_map"] != 0
    assert not (taken & ~possible).any(), "blocks without a pair are selected"
    kept = taken[np.arange(head.queries) // rows][:, np.arange(head.keys) // cols]
    return taken, possible, kept


def scores_agree(drawn, expected):
    written = drawn["block_scores"].astype(float)
    with np.errstate(invalid="ignore"):
        near = (written == expected) | (np.abs(written - expected) <= 1e-6 * np.abs(expected) + 1e-9)
    assert near.all(), "block_scores are not those of the formula"


def xattention(head, p, drawn):
    n, stride, block = head.keys, p["stride"], p["block"]
    groups = -(-n // stride)
    padded = [np.vstack([x, np.zeros((groups * stride - n, head.d))]).reshape(groups, stride, head.d)
              for x in (head.q, head.k)]
    logits = head.scale / stride * np.einsum("rtd,ctd->rc", padded[0][:, ::-1], padded[1])
    seen = np.tril(np.ones((groups, groups))) if head.causal else np.ones((groups, groups))
    strided = variants.softmax(logits, seen, None)[0]
    begins = starts(groups, block // stride)
    mass = np.add.reduceat(np.add.reduceat(strided, begins, axis=0), begins, axis=1)
    taken, possible, kept = map_of(head, drawn, block, block)
    mass = np.where(possible, mass, 0)
    total = mass.sum(axis=1, keepdims=True)
    share = np.where(total > 0, mass / np.where(total > 0, total, 1), 0)
    scores_agree(drawn, np.where(possible, share, -np.inf))
    for r, row in enumerate(taken):
        if p["tau"] >= 1:
            assert (row == possible[r]).all(), "with tau = 1 all blocks are kept"
            continue
        forced = possible[r] & ((np.arange(len(row)) == 0) | (np.arange(len(row)) == r))
        assert not (forced & ~row).any(), "the first or the own block is not kept"
        others = row & ~forced
        assert share[r, row].sum() >= p["tau"] - NEAR or (row == possible[r]).all(), "too little mass"
        if others.any():
            assert share[r, row].sum() - share[r, others].min() < p["tau"] + NEAR, "more blocks than are needed"
        check_largest(row, np.where(forced, np.inf, share[r]), possible[r], int(row.sum()))
    made = variants.of_pairs(head, kept)
    made.multiply_adds += float(seen.sum()) * stride * head.d
    return made


def alike(x, size, theta):
    """The mean of each block as float32, whether its vectors are alike, and whether that is beyond rounding."""
    means, cosines = [], []
    for begin in starts(len(x), size):
        rows = x[begin:begin + size]
        means.append(rows.mean(axis=0).astype(np.float32).astype(float))
        with np.errstate(divide="ignore", invalid="ignore"):
            units = rows / np.sqrt((rows ** 2).sum(axis=1, keepdims=True))
        cosines.append(float((units @ units.T).mean()))
    cosines = np.array(cosines)
    return np.array(means), (cosines > theta) & (theta < 1), ~(np.abs(cosines - theta) <= NEAR)


def sparge(head, p, drawn):
    q, q_alike, q_sure = alike(head.q, p["query_block"], p["theta"])
    k, k_alike, k_sure = alike(head.k, p["key_block"], p["theta"])
    taken, possible, kept = map_of(head, drawn, p["query_block"], p["key_block"])
    logits = head.scale * (q @ k.T)
    expected = np.full(possible.shape, -np.inf)
    for r, row in enumerate(taken):
        if not q_sure[r] or not k_sure.all():
            expected[r] = drawn["block_scores"][r]
            continue
        if not q_alike[r]:
            assert (row == possible[r]).all(), "a block of unlike queries does not keep all"
            continue
        others = possible[r] & k_alike
        assert not (possible[r] & ~k_alike & ~row).any(), "a block of unlike keys is not kept"
        if not others.any():
            continue
        share = variants.softmax(logits[r:r + 1], others[None].astype(float), None)[0][0]
        expected[r, others] = share[others]
        its = row & others
        if p["tau"] >= 1:
            assert (its == others).all(), "with tau = 1 all blocks are kept"
            continue
        check_largest(its, share, others, int(its.sum()))
        assert its.sum() == 1 or share[its].sum() <= p["tau"] + NEAR, "more mass than tau"
        left = others & ~its
        if left.any():
            assert share[its].sum() + share[left].max() > p["tau"] - NEAR, "a block that fits is not kept"
    scores_agree(drawn, expected)
    made = variants.of_pairs(head, kept)
    made.multiply_adds += 6 * head.keys * head.d + float(len(q) * len(k)) * head.d
    return made


def means_of(x, cluster):
    """Of the tokens of each cluster, and how many those are."""
    of = np.zeros((max(cluster) + 1, len(x)))
    of[cluster, np.arange(len(x))] = 1
    size = of.sum(axis=1)
    return of @ x / np.maximum(size, 1)[:, None], size


def svg2(head, p, drawn):
    of_query, of_key = drawn["query_cluster"], drawn["key_cluster"]
    clusters = [-(-n // p[name]) for n, name in ((head.queries, "query_size"), (head.keys, "key_size"))]
    (queries, _), (keys, size) = means_of(head.q, of_query), means_of(head.k, of_key)
    mass = variants.softmax(head.scale * (queries @ keys.T), np.tile(size, (len(queries), 1)), None)[0]
    kept = np.zeros(mass.shape, bool)
    for row, its in zip(mass, kept):
        order = [c for c in np.argsort(-row, kind="stable") if size[c] > 0]
        before = np.cumsum(row[order]) - row[order]
        # Shares of equal clusters never sum to the drawn tau, so rounding does not decide.
        its[[c for turn, c in enumerate(order)
             if p["tau"] >= 1 or before[turn] <= p["tau"] or turn < int(p["least"] * clusters[1])]] = True
    made = variants.of_pairs(head, kept[of_query][:, of_key])
    made.multiply_adds += head.d * float(p["rounds"] * (head.queries * clusters[0] + head.keys * clusters[1])
                                         + clusters[0] * clusters[1])
    return made


FORMULAS = {f.__name__: f for f in (svg2, moba, vertical_slash, msa, nsa, dsa, xattention, sparge, quest, oracle)}
