"""`fovea heads --triage --json`: what patterns of sparse prefill keep of exact attention under a budget of pairs."""
import math

import numpy as np

import sampling
import selected
from compared import differences, number

TEXTS = ("source", "backend", "device", "precision", "notes[", "heads[")
SHARES = (1 / 16, 1 / 4, 1 / 2, 3 / 4, 15 / 16)  # of the pairs that go to columns
LAST, FIRST, NEAREST, LONG = 64, 30, 100, 8192
NO_DIFFERENCE, ERRORS = 1e-3, 2
PATTERNS = ("streaming", "vertical_slash", "block")
NEAR = 1e-9


class Unsure(Exception):
    """Rounding decides what is kept."""


def fill(more_of, lines, most, pairs=0.0):
    """The first of the lines that fit into the budget one after the other, and the pairs that they keep."""
    taken = []
    for line in lines:
        more = more_of(line)
        if pairs + more > most:
            break
        pairs += more
        taken.append(line)
    return taken, pairs


def by_mass(mass, first):
    """The first lines, then the others by their mass."""
    others = np.argsort(-mass[first:], kind="stable") + first
    ordered = mass[others]
    near = np.abs(np.diff(ordered)) <= NEAR * ordered[1:]
    if near[ordered[1:] > 0].any():
        raise Unsure
    return np.concatenate([np.arange(first), others])


class Lines:
    """Columns, and diagonals beside them; without a causal mask a diagonal is on both sides."""

    def __init__(self, allowed, causal):
        self.allowed, self.n, self.both = allowed, len(allowed), not causal
        i, j = np.nonzero(allowed)
        self.columns = allowed.sum(axis=0)
        self.diagonals = np.bincount(i - j + self.n, minlength=2 * self.n)

    def kept(self, columns, diagonals, share, budget):
        n = self.n
        taken, pairs = fill(lambda j: self.columns[j], columns, share * budget)
        is_column = np.zeros(n, bool)
        is_column[taken] = True
        place = np.array(taken, int)

        def beside(distance):
            if distance in (n, -n):
                return 0
            rows = place + distance
            inside = (rows >= 0) & (rows < n)
            return self.diagonals[distance + n] - self.allowed[rows[inside], place[inside]].sum()

        def new_pairs(distance):
            return beside(distance) + (beside(-distance) if self.both and distance else 0)

        lines, pairs = fill(new_pairs, diagonals, budget, pairs)
        on_line = np.zeros(2 * n, bool)
        on_line[[d + n for d in lines] + [n - d for d in lines if self.both]] = True
        place = np.arange(n)
        mask = is_column[None] | on_line[place[:, None] - place + n]
        return {"columns": len(taken), "diagonals": len(lines), "pairs": pairs}, mask


def blocks_kept(head, budget):
    n = head.keys
    size = min(64, 2 ** int(math.log2(max(n // 4 // 8, 2))))
    begins = np.arange(0, n, size)
    count = np.diff(np.append(begins, n))[:, None]
    means = [(np.add.reduceat(x, begins, axis=0) / count).astype(np.float32).astype(float) for x in (head.q, head.k)]
    scores = head.scale * selected.products(*means)
    pairs = np.add.reduceat(np.add.reduceat(head.allowed.astype(float), begins, axis=0), begins, axis=1)
    order = []
    for row, its in zip(scores, pairs):
        possible = np.flatnonzero(its > 0)
        own = possible[np.argsort(-row[possible], kind="stable")]
        if (np.abs(np.diff(row[own])) <= NEAR * np.abs(row).max()).any():
            raise Unsure
        order.append(own)
    blocks = len(begins)
    of_rank = [sum(pairs[row, own[rank]] for row, own in enumerate(order) if rank < len(own)) for rank in range(blocks)]
    taken, kept = fill(lambda rank: of_rank[rank], range(blocks), budget)
    chosen = np.zeros((blocks, blocks), bool)
    for row, own in enumerate(order):
        chosen[row, own[:len(taken)]] = True
    place = np.arange(n) // size
    return {"block": size, "blocks": len(taken), "pairs": kept}, chosen[place[:, None], place]


def tries(head, budget):
    """{pattern: [(sizes, mask)]}."""
    n = head.keys
    weights = selected.weights(head)[max(0, n - LAST):]
    place = np.arange(max(0, n - LAST), n)
    of_distances = np.bincount(np.abs(place[:, None] - np.arange(n)).ravel(), weights.ravel(), minlength=n)
    columns = by_mass(weights.sum(axis=0), min(FIRST, FIRST * n // LONG))
    diagonals = by_mass(of_distances, min(NEAREST, NEAREST * n // LONG))
    lines, sequence = Lines(head.allowed, head.causal), np.arange(n)
    return {"streaming": [lines.kept(sequence, sequence, share, budget) for share in SHARES],
            "vertical_slash": [lines.kept(columns, diagonals, share, budget) for share in SHARES],
            "block": [blocks_kept(head, budget)]}


def of_head(head, p, budget, keep, where):
    """{path: (value, error)} of one head, and its pattern."""
    rows = sampling.Rows(head.queries, head.keys)
    p = p[rows.rows]
    whole = p.sum(axis=1)
    allowed = int(head.allowed.sum())
    expected, best, found = {}, {}, {}
    for pattern, all_tries in tries(head, budget * allowed).items():
        masses = [np.where(mask[rows.rows], p, 0).sum(axis=1) for _, mask in all_tries]
        recalls = [rows.ratio(mass, whole) for mass in masses]
        values = [-math.inf if math.isnan(recall[0]) else recall[0] for recall in recalls]
        at = int(np.argmax(values))
        sizes = all_tries[at][0]
        if any(abs(value - values[at]) <= NEAR and other[0] != sizes for value, other in zip(values, all_tries)):
            raise Unsure
        recall, standard_error = recalls[at]
        best[pattern], found[pattern] = masses[at], recall
        its = f"{where}patterns.{pattern}."
        expected |= {its + name: (value, 0) for name, value in sizes.items() if name != "pairs"}
        expected[its + "pairs"] = (sizes["pairs"] / max(allowed, 1), 1e-12)
        expected[its + "recall"] = (recall, 1e-9)
        if standard_error:
            expected[its + "recall_standard_error"] = (standard_error, 1e-6 * standard_error + 1e-10)
    defined = {pattern: recall for pattern, recall in found.items() if not math.isnan(recall)}
    chosen, as_good, near_keep = "full", [], False
    if defined:
        top = max(defined, key=defined.get)
        error = expected.get(f"{where}patterns.{top}.recall_standard_error", (0, 0))[0]
        near_keep = bool(error > 0 and abs(defined[top] - keep) <= ERRORS * error)
        if any(abs(recall - keep) <= NEAR for recall in defined.values()):
            raise Unsure
        if defined[top] >= keep:
            for pattern in PATTERNS:
                apart, error = rows.ratio(best[pattern] - best[top], whole)
                if abs(abs(apart) - NO_DIFFERENCE) <= NEAR:
                    raise Unsure
                if not defined[pattern] >= keep or abs(apart) > max(NO_DIFFERENCE, ERRORS * (error or 0)):
                    continue
                if chosen == "full":
                    chosen = pattern
                else:
                    as_good.append(pattern)
    its = f"{where}patterns.{chosen}."
    expected |= {where + "pattern": (chosen, 0), where + "near_keep": (near_keep, 0), where + "rows": (len(rows.rows), 0),
                 where + "recall": expected.get(its + "recall", (1.0, 0)), where + "pairs": expected.get(its + "pairs", (1.0, 0))}
    expected |= {f"{where}as_good[{place}]": (pattern, 0) for place, pattern in enumerate(as_good)}
    return expected, chosen


def check(program, layer, exact, _, budget=None):
    if layer.queries != layer.keys:
        return []
    budget, keep = budget or layer.draw.of([0.02, 0.1, 0.3, 1.0]), layer.draw.of([0.3, 0.9])
    document = program.json("heads", *layer.source, "--triage", "--budget", budget, "--keep", keep)
    expected = {"seed": (0, 0), "budget": (budget, 0), "keep": (keep, 0)}
    patterns = []
    for h in range(layer.heads):
        head, where = layer.head(h), f"heads[{h}]."
        expected |= {where + name: (value, 0) for name, value in
                     (("layer", 0), ("head", h), ("n", layer.keys), ("causal", layer.causal))}
        entry = document["heads"][h]
        try:
            own, pattern = of_head(head, exact.of_head("p", h), budget, keep, where)
        except Unsure:  # what it keeps is left to the program
            for name in ("pattern", "near_keep", "rows", "recall", "pairs", "as_good", "patterns"):
                entry.pop(name)
            patterns = None
            continue
        expected |= own
        if patterns is not None:
            patterns.append(pattern)
    if patterns is None:
        document.pop("counts")
    else:
        expected |= {f"counts.{name}": (patterns.count(name), 0) for name in (*PATTERNS, "full")}
    return differences(document, expected, TEXTS)
