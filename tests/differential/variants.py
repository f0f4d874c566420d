"""P of each variant in float64, from the formulas of the papers, what the program drew for it, and what that costs.

Every function takes a Head, the parameters and the structure that the program wrote for it, and gives an Attention.
"""
import math

import numpy as np


class Attention:
    """P [nq, nk]; the pairs to which it gives weight; lse of its rows, where they are divided by sums."""

    def __init__(self, p, support, lse=None, multiply_adds=0, magnitude=None):
        self.p, self.support, self.lse, self.multiply_adds = p, support, lse, multiply_adds
        self.magnitude = magnitude  # of the exponents where these are not the logits of the head
        self.bound = None  # sums of magnitudes that entries of P are rounded relative to; P itself where none cancel
        self.leaves = None  # (leaf of each query, leaf of each key, number of leaves)
        self.levels = None  # [nq, nk], of a hierarchy of clusters
        self.blocks = None  # [nq, nk], that are summed exactly, beside samples
        self.chosen = None  # (keys of a block, [nq] blocks that each query selects)
        self.z = None  # where it is not P V
        self.v = None  # what P is multiplied by, where it is not the head's V
        self.given = False  # another program's result,
        self.is_read = False  # of which P is only read
        self.rows = None  # what theory mode says of its rows
        self.steps = 0  # [nq, nk], by which entries may differ where rounding to few bits is near a tie


def softmax(logits, weight, sink):
    """weight exp(logits) over the sum of the same, and of exp(sink); and the logarithms of the sums."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(weight > 0, logits + np.log(weight), -np.inf)
    top = np.max(logs, axis=1, initial=-np.inf if sink is None else sink)
    with np.errstate(under="ignore"):
        shifted = np.where(weight > 0, np.exp(logs - np.where(np.isfinite(top), top, 0)[:, None]), 0)
        total = shifted.sum(axis=1) + (0 if sink is None else np.exp(sink - top))
    with np.errstate(divide="ignore"):
        lse = np.where(total > 0, top + np.log(total), -np.inf)
    return shifted / np.where(total > 0, total, 1)[:, None], lse


def of_pairs(head, weight, logits=None):
    """A softmax over the pairs that have weight and that the head admits."""
    weight = np.where(head.allowed, weight, 0).astype(float)
    p, lse = softmax(head.logits() if logits is None else logits, weight, head.sink)
    support = weight > 0
    return Attention(p, support, lse, float(support.sum()) * (head.d + head.dv))


def places(head):
    """Of queries among the keys, and of keys: [nq, 1] and [1, nk]."""
    return np.arange(head.queries)[:, None] + head.keys - head.queries, np.arange(head.keys)[None]


def exact(head, p, drawn):
    return of_pairs(head, np.ones((head.queries, head.keys)))


def sets_of(p, head):
    return p["heads"] if p["heads"] != "split" else ("first", "second")[head.index % 2]


def is_sink(p, head):
    return places(head)[1] < p["sinks"]


def union(p, head, first, second):
    chosen = sets_of(p, head)
    sets = first if chosen == "first" else second if chosen == "second" else first | second
    return of_pairs(head, sets | is_sink(p, head))


def fixed(head, p, drawn):
    i, j = places(head)
    l, c, group = p["stride"], p["summary"], head.index % p["subblocks"]
    end = l - group * c  # the groups of columns are counted from the end of a block
    return union(p, head, i // l == j // l, (j % l >= end - c) & (j % l < end) & (i >= 0))


def strided(head, p, drawn):
    i, j = places(head)
    l = p["stride"]
    return union(p, head, abs(i - j) < l, (i - j) % l == 0)


def window(head, p, drawn):
    i, j = places(head)
    return of_pairs(head, (abs(i - j) <= p["width"]) | is_sink(p, head))


def longformer(head, p, drawn):
    i, j = places(head)
    return of_pairs(head, (abs(i - j) <= p["width"]) | (i < p["globals"]) | (j < p["globals"]))


def bigbird(head, p, drawn):
    i, j = places(head)
    b = p["block"]
    last = (head.keys - 1) // b
    row, col = i // b, j // b
    chosen = (row == 0) | (row == last) | (col == 0) | (col == last) | (abs(row - col) <= (p["window"] - 1) // 2)
    if "random_blocks" in drawn and drawn["random_blocks"].size:
        for random in drawn["random_blocks"].reshape(last + 1, -1).T:
            chosen = chosen | (random[row[:, 0]][:, None] == col)
    return of_pairs(head, chosen)


def grid_of(head, p):
    """Whether a token is of the text, its frame, row and column; frames, height, width of those that there are."""
    n = head.keys
    text = min(p["text"], n)
    i = np.arange(n)
    of_text = i < text if p["text_place"] == "first" else i >= n - text
    cell = np.where(of_text, 0, i - (text if p["text_place"] == "first" else 0))
    cells = max(n - text, 1)
    width = min(p["width"], cells)
    height = min(p["height"], -(-cells // width))
    frame, within = np.divmod(cell, height * width)
    return of_text, frame, within // width, within % width, -(-(n - text) // (height * width)), height, width, cell


def sta(head, p, drawn):
    of_text, frame, row, column, frames, height, width, _ = grid_of(head, p)
    near = np.ones((head.keys, head.keys), bool)
    for at, size, tile, box in ((frame, frames, p["tile_frames"], p["box_frames"]), (row, height, p["tile_rows"], p["box_rows"]),
                                (column, width, p["tile_columns"], p["box_columns"])):
        tiles = -(-size // tile)
        first = np.maximum(0, np.minimum(at // tile - box // 2, tiles - box))[:, None]
        near &= (at // tile >= first) & (at // tile < first + box)
    return of_pairs(head, near | of_text[:, None] | of_text)


def svg(head, p, drawn):
    of_text, frame, row, column, frames, height, width, cell = grid_of(head, p)
    area = height * width
    if p["pattern"] == "spatial":
        near = abs(cell[:, None] - cell) < max(1, np.floor(p["reach"] * area))
        if p["first_frame"] == "attended":
            near |= frame == 0
    else:
        place = row * width + column
        near = abs(place[:, None] - place) < max(1, np.floor(p["reach"] * area / max(1, frames)))
    return of_pairs(head, near | of_text[:, None] | of_text)


def radial(head, p, drawn):
    of_text, frame, row, column, frames, height, width, cell = grid_of(head, p)
    apart = abs(frame[:, None] - frame)
    halved = 2.0 ** np.floor(np.log2(np.maximum(apart, 1)))
    places = row * width + column
    places = abs(places[:, None] - places)
    window = p["reach"] * height * width
    near = (places < np.floor(window / halved)) & (window >= halved)
    with np.errstate(divide="ignore"):
        near |= (window < halved) & (places == 0) & (np.fmod(apart, np.ceil(np.divide(halved, window))) == 0)
    if p["first_frame"] == "attended" and frames > 1:
        near |= frame == 0
    return of_pairs(head, near | of_text[:, None] | of_text)


def h1d(head, p, drawn):
    n, block, nested = head.keys, p["block"], p["structure"] == "nested"
    i, j = places(head)
    bi, bj = i // block, j // block
    levels = np.zeros((n, n), int)
    while True:  # a pair belongs to the finest level at which its blocks are siblings, or neighbours
        a, b = bi >> levels, bj >> levels
        far = (a >> 1 != b >> 1) if nested else abs(a - b) > 1
        if not far.any():
            break
        levels += far
    query = p["causal_query"] if head.causal else "mean"
    logits = np.zeros((n, n))
    top = int(levels.max())
    pairs = coarse = 0

    def means(rows, level):
        starts = np.arange(0, n, 1 << level)
        return np.add.reduceat(rows, starts, axis=0) / np.diff(np.append(starts, n))[:, None]

    for level in range(top + 1):
        keys = means(head.k, level)
        if query == "mean":
            queries = means(head.q, level)[np.arange(n) >> level]
        else:
            queries = head.q[np.arange(n) if query == "fine" else np.arange(n) >> level << level]
        own = (levels == level) & head.allowed
        s = head.scale * (queries @ keys.T)
        logits = np.where(levels == level, s[:, np.arange(n) >> level], logits)
        rows = n if query == "fine" else len(means(head.q, level))  # queries that meet the clusters of this level
        meets = np.zeros((rows, len(keys)), bool)
        at = np.nonzero(own)
        meets[at[0] if query == "fine" else at[0] >> level, at[1] >> level] = True
        pairs += int(meets.sum())
        if level < top:  # each row of a level is added once into a mean of the next
            coarse += len(keys) * (head.d + head.dv)
            if query != "fine":  # and the state of a coarse query goes to both children
                coarse += len(keys) * ((head.d if query == "mean" else 0) + head.dv)
    made = of_pairs(head, np.ones((n, n)), head.rule(logits))
    made.multiply_adds = pairs * (head.d + head.dv) + coarse
    made.levels = levels
    return made


def tree_levels(p, drawn):
    """Children of the nodes at each depth, root first."""
    if p["branching"]:
        return [int(b) for b in p["branching"]]
    return [2] * p["height"]


def routing(p, head, children):
    """A binary node compares one product with 0, another takes the largest of its children's."""
    each = sum(1 if not p["branching"] else b for b in children)
    return (head.queries + head.keys) * head.d * each


def same_node(drawn, leaves_below):
    return drawn["query_leaf"][:, None] // leaves_below == drawn["key_leaf"][None] // leaves_below


def tf(head, p, drawn):
    children = tree_levels(p, drawn)
    below = 1
    weight = same_node(drawn, 1)
    if p["empty"] == "ancestor":
        for b in reversed(children):
            below *= b
            empty = ~(weight & head.allowed).any(axis=1)
            weight = np.where(empty[:, None], same_node(drawn, below), weight)
    made = of_pairs(head, weight)
    made.multiply_adds += routing(p, head, children)
    made.leaves = drawn["query_leaf"], drawn["key_leaf"], int(np.prod(children, dtype=int))
    return made


def tc(head, p, drawn):
    children = tree_levels(p, drawn)
    depths = len(children) + 1
    alpha = p["alpha"] or ([1 / depths] * depths if p["tree"] != "learned" else drawn["alpha"].tolist())
    total, magnitudes = np.zeros((2, head.queries, head.keys))
    support = np.zeros((head.queries, head.keys), bool)
    nodes, width = 0, 1
    for depth in range(depths):
        nodes += width
        width *= children[depth] if depth < depths - 1 else 1
        shared = same_node(drawn, int(np.prod(children[depth:], dtype=int))) & head.allowed
        count = shared.sum(axis=1, keepdims=True)
        share = np.where(shared, alpha[depth] / np.maximum(count, 1), 0)
        total += share
        magnitudes += abs(share)
        support |= shared
    made = Attention(total, support)
    made.bound = magnitudes
    sums = head.keys * depths if head.causal else head.keys + nodes  # a causal mask needs sums of prefixes
    made.multiply_adds = (sums + head.queries * depths) * head.dv + routing(p, head, children)
    made.leaves = drawn["query_leaf"], drawn["key_leaf"], int(np.prod(children, dtype=int))
    return made


def sorted_blocks(query_order, key_order, block):
    """[queries, keys] whether two tokens of these orders are in the same block; both are of any tokens."""
    query_block, key_block = np.empty(len(query_order), int), np.empty(len(key_order), int)
    query_block[query_order - query_order.min()] = np.arange(len(query_order)) // block
    key_block[key_order - key_order.min()] = np.arange(len(key_order)) // block
    return query_block[:, None] == key_block[None]


def halving(n, shortest):
    """The segments that are computed exactly, and (queries, keys, depth) of the others, breadth first."""
    exactly, nodes, segments, depth = [], [], [(0, n)], 0
    while segments:
        following = []
        for begin, end in segments:
            if end - begin <= max(shortest, 1):
                exactly.append((begin, end))
                continue
            middle = begin + (end - begin) // 2
            nodes.append((slice(middle, end), slice(begin, middle), depth))
            following += [(begin, middle), (middle, end)]
        segments, depth = following, depth + 1
    return exactly, nodes


def hyper(head, p, drawn):
    n, block, shortest = head.keys, p["block"], p["min_length"]
    if (n <= shortest or n == 1 if head.causal else n < shortest) or block >= n:
        return exact(head, p, drawn)
    weight, inside = np.zeros((n, n)), np.zeros((n, n), bool)
    if head.causal:
        exactly, nodes = halving(n, shortest)
        for begin, end in exactly:
            inside[begin:end, begin:end] = True
    else:
        nodes = [(slice(0, n), slice(0, n), 0)]
    query_order, key_order = drawn["query_order"].reshape(-1, n), drawn["key_order"].reshape(-1, n)
    samples = drawn["sampled_keys"].reshape(len(nodes), -1)
    for (rows, cols, depth), keys in zip(nodes, samples):
        size = cols.stop - cols.start
        if block >= size:
            inside[rows, cols] = True
            continue
        inside[rows, cols] = sorted_blocks(query_order[depth, rows], key_order[depth, cols], block)
        drawn_times = np.bincount(keys - cols.start, minlength=size)
        weight[rows, cols] = size / len(keys) * drawn_times
    if p["mode"] == "theory":
        made = theory(head, p, drawn, inside)
    else:
        made = of_pairs(head, np.where(inside, 1, weight))
        made.multiply_adds += 2 * n * head.d * p["projections"]
    made.leaves = drawn["query_bucket"], drawn["key_bucket"], 2 ** p["projections"]
    made.blocks = inside
    return made


def log_sum(logs):
    top = np.max(logs, axis=1, initial=-np.inf, keepdims=True)
    with np.errstate(divide="ignore"):
        return (np.where(np.isfinite(top), top, 0) +
                np.log(np.exp(logs - np.where(np.isfinite(top), top, 0)).sum(axis=1, keepdims=True)))[:, 0]


def theory(head, p, drawn, inside):
    """Algorithms 2 and 3 of the paper."""
    n, logits = head.keys, head.logits()
    keys, values, rows = drawn["sampled_keys"].ravel(), drawn["sampled_values"].ravel(), drawn["tau_rows"].ravel()
    m = len(keys)
    within = log_sum(np.where(inside, logits, -np.inf))
    tau = log_sum(np.where(inside, -np.inf, logits))[rows].max()
    floor = tau - np.log(p["kappa"])
    cap = np.log(p["epsilon"] ** 2 * m / (n * np.log(n))) + np.logaddexp(within, floor)
    outside = ~inside[:, keys]
    sampled = log_sum(np.where(outside, np.log(n / m) + np.minimum(logits[:, keys], cap[:, None]), -np.inf))
    lse = np.logaddexp(within, np.maximum(sampled, floor))
    squares = (head.v ** 2).sum(axis=1)
    chance = squares / squares.sum() if squares.sum() > 0 else np.full(n, 1 / n)
    times = np.bincount(values, minlength=n)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(times > 0, times / (len(values) * chance), 0)
    made = Attention(weight * np.exp(logits - lse[:, None]), np.broadcast_to(times > 0, (n, n)), lse)
    distinct = np.unique(keys)
    counted = ~inside[:, distinct]
    made.rows = {"floored": sampled - floor, "capped": (logits[:, distinct] - cap[:, None])[counted]}
    # Hashes; the blocks, the sampled entries and the rows of tau; the norms of values; then the pairs of P.
    entries = inside.sum() + counted.sum() + (~inside[rows]).sum()
    made.multiply_adds = (2 * n * head.d * p["projections"] + float(entries) * head.d + n * head.dv
                          + float(made.support.sum()) * (head.d + head.dv))
    return made


def kde(head, p, drawn):
    n, block = head.keys, p["block"]
    if block >= n:
        return exact(head, p, drawn)
    norms, largest = np.linalg.norm(head.v, axis=1), np.linalg.norm(head.v, 2)
    chance = (norms / largest if largest > 0 else 0 * norms) + 1 / n
    chance /= chance.sum()
    keys = drawn["sampled_keys"].ravel()
    weight = np.bincount(keys, minlength=n) / (len(keys) * chance)
    inside = sorted_blocks(drawn["query_order"].ravel(), drawn["key_order"].ravel(), block)
    made = of_pairs(head, np.where(inside, 1, weight))
    made.multiply_adds += 2 * n * head.d * p["projections"] + n * head.dv * (head.dv + 1)
    made.leaves = drawn["query_bucket"], drawn["key_bucket"], 2 ** p["projections"]
    return made


def reformer(head, p, drawn):
    n, chunk = head.keys, p["chunk"]
    if chunk >= n:
        return exact(head, p, drawn)
    found = np.zeros((n, n), bool)
    of_query, of_key = drawn["query_bucket"].reshape(-1, n), drawn["key_bucket"].reshape(-1, n)
    token = np.arange(n)
    for query_bucket, key_bucket in zip(of_query, of_key):  # a round each

        def chunks(bucket):  # the place of a token among the keys sorted by (bucket, position)
            before = (key_bucket[None] < bucket[:, None]) | ((key_bucket[None] == bucket[:, None])
                                                             & (token[None] < token[:, None]))
            return np.minimum(before.sum(axis=1), n - 1) // chunk

        apart = chunks(query_bucket)[:, None] - chunks(key_bucket)[None]
        found |= (apart == 0) | (apart == 1)
    made = of_pairs(head, found)
    sides = hash_sides(2 * -(-n // chunk))
    made.multiply_adds += 2 * p["rounds"] * n * head.d * sum(sides) // 2  # [xR; -xR] has twice as many as directions
    made.leaves = of_query[0], of_key[0], math.prod(sides)
    return made


def hash_sides(buckets):
    """Of so many buckets; beyond 64 a product of two hashes tells about as many apart, as in the authors' program."""
    if buckets <= 64:
        return [buckets]
    first = 2 * math.ceil(math.sqrt(buckets) / 2)
    return [first, 2 * math.ceil(buckets / first / 2)]


def linformer(head, p, drawn):
    e, f = drawn["project_k"].astype(float), drawn["project_v"].astype(float)
    keys = e @ head.k
    inner, _ = softmax(head.scale * (head.q @ keys.T), np.ones((head.queries, len(e))), None)
    made = Attention(inner @ f, np.ones((head.queries, head.keys), bool))
    rank, n = len(e), head.keys
    made.multiply_adds = rank * n * (head.d + head.dv) + head.queries * rank * (head.d + head.dv)
    made.magnitude = head.scale * float((np.abs(head.q) @ (np.abs(e) @ np.abs(head.k)).T).max())
    made.bound = inner @ np.abs(f)
    return made


def log_normalised(logs, axis):
    top = logs.max(axis=axis, keepdims=True)
    return logs - top - np.log(np.exp(logs - top).sum(axis=axis, keepdims=True))


def sinkhorn(head, p, drawn):
    n, b = head.keys, min(p["block"], head.keys)
    starts = np.arange(0, n, b)
    sizes = np.diff(np.append(starts, n))[:, None]
    blocks, last = len(starts), int(sizes[-1, 0])
    q, k = (np.add.reduceat(x, starts, axis=0) / sizes for x in (head.q, head.k))
    logs = head.scale * (q @ k.T) / p["temperature"]
    for _ in range(p["iterations"]):  # rows, then columns
        logs = log_normalised(log_normalised(logs, 1), 0)
    mix = np.exp(logs)
    # At the places that the last block lacks, the others have all of its weight.
    written = drawn["block_mix"].astype(float).reshape(blocks, blocks)
    rest = written[:, :-1].sum(axis=1)
    others = np.zeros((blocks, blocks))
    others[:, :-1] = written[:, :-1] * np.where(rest > 0, written.sum(axis=1) / np.where(rest > 0, rest, 1), 0)[:, None]
    total = np.zeros((n, n))
    magnitude = 0
    pairs = 0
    for block, start in enumerate(starts):
        rows = slice(start, start + int(sizes[block, 0]))
        own = rows.stop - rows.start
        shares = np.zeros((b, n))  # of each mixture in the tokens
        for t in range(b):
            of = mix[block] if t < last else others[block]
            shares[t, t::b] = of[: len(range(t, n, b))]
        sources = np.concatenate([np.eye(n)[rows], shares])
        keys = sources @ head.k
        magnitude = max(magnitude, head.scale * float((np.abs(head.q[rows]) @ (sources @ np.abs(head.k)).T).max()))
        inner, _ = softmax(head.scale * (head.q[rows] @ keys.T), np.ones((own, own + b)), None)
        total[rows] = inner @ sources
        pairs += own * (own + b)
    made = Attention(total, np.ones((n, n), bool), multiply_adds=pairs * (head.d + head.dv))
    mixed = blocks * (2 if last < b else 1)  # rows of mixtures
    made.multiply_adds += (2 * n * head.d + blocks * blocks * head.d + 2 * blocks * blocks * p["iterations"]
                           + mixed * n * (head.d + head.dv))
    made.magnitude = magnitude + head.magnitude() * (1 + 1 / p["temperature"])
    return made


def synthesizer(head, p, drawn):
    r1, r2 = drawn["query_factors"].astype(float), drawn["key_factors"].astype(float)
    logits = r1 @ r2
    made = of_pairs(head, np.ones((head.queries, head.keys)), logits)
    made.multiply_adds = float(made.support.sum()) * (len(r2) + head.dv)
    made.magnitude = float((np.abs(r1) @ np.abs(r2)).max())
    return made


def of_features(head, q, k):
    """Products of features, of which logarithms are given: [n, m]."""
    sums = q[:, None, :] + k[None]
    top = sums.max(axis=2)
    made = of_pairs(head, np.ones((head.queries, head.keys)), top + np.log(np.exp(sums - top[..., None]).sum(axis=2)))
    features = q.shape[1]
    made.multiply_adds = (head.queries + head.keys) * features * (head.dv + 1)
    made.lse = None  # features are products of maxima that cancel
    return made


def linear(head, p, drawn):
    def logs(x):
        return np.where(x > 0, np.log1p(np.maximum(x, 0)), x)

    made = of_features(head, logs(head.q), logs(head.k))
    made.magnitude = float(np.abs(head.q).max() + np.abs(head.k).max())
    return made


def performer(head, p, drawn):
    g = drawn["features"].astype(float)

    def logs(x):
        x = x * np.sqrt(head.scale)
        return x @ g.T - (x ** 2).sum(axis=1, keepdims=True) / 2

    made = of_features(head, logs(head.q), logs(head.k))
    made.multiply_adds += (head.queries + head.keys) * len(g) * head.d
    largest = max(float((x ** 2).sum(axis=1).max()) for x in (head.q, head.k)) * head.scale
    made.magnitude = largest + 2 * np.sqrt(largest * max(head.d, float((g ** 2).sum(axis=1).max())))
    return made


def imported(head, p, drawn):
    """What the file holds; without P a softmax over the pairs that it says were kept, if it does."""
    kept = drawn.get("kept", drawn.get("p", 1) != 0)
    made = of_pairs(head, np.broadcast_to(kept, (head.queries, head.keys)))
    if "p" in drawn:
        made.p = drawn["p"]
    elif "kept" not in drawn:
        made.p = None  # not known
    made.z, made.lse = drawn.get("z"), drawn.get("lse")
    made.given, made.is_read = True, "p" in drawn
    return made


FORMULAS = {f.__name__: f for f in (exact, h1d, fixed, strided, tf, tc, hyper, window, longformer, bigbird, sta, svg, radial, reformer,
                                    kde, linformer, sinkhorn, synthesizer, linear, performer, imported)}
