"""Which rows of a long head the program reads, and what a sample says of all rows, with its standard error.

Rows are drawn by Philox4x32-10 (Salmon et al., SC 2011), of which a stream belongs to each purpose.
"""
import math

import numpy as np

MOST_ENTRIES = 8192 * 8192  # a head with more entries is sampled
ROWS, QUERIES, SIGNS = 0x726F7773, 0x7370616E, 0x7369676E  # "rows", "span", "sign"


class Stream:
    """64-bit words of a stream, two of the generator's for each."""

    def __init__(self, seed, purpose, part, count):
        blocks = np.arange((count + 1) // 2, dtype=np.uint64)
        low, stream = np.uint64(0xFFFFFFFF), (purpose << 32) | part
        c = [blocks & low, blocks >> np.uint64(32), np.full_like(blocks, stream & 0xFFFFFFFF),
             np.full_like(blocks, stream >> 32)]
        key = [seed & 0xFFFFFFFF, seed >> 32]
        for _ in range(10):
            a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
            c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]), b & low,
                 (a >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]), a & low]
            key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
        self.bits = np.stack(c, axis=1).reshape(-1, 2)

    def words(self):
        """As integers; those for which `x % count` would not be even occur once in 2^46."""
        return (self.bits[:, 0] << np.uint64(32)) | self.bits[:, 1]

    def uniform(self):
        return ((self.bits[:, 0] >> np.uint64(5)) * 2.0 ** 26 + (self.bits[:, 1] >> np.uint64(6))) * 2.0 ** -53


def size_of_sample(queries, keys):
    return queries if queries * keys <= MOST_ENTRIES else max(16, min(queries, MOST_ENTRIES // keys))


def in_sequence(words, wanted):
    """Selection sampling: an item is taken with the chance (still wanted) / (still left)."""
    taken, count = [], len(words)
    for place, word in enumerate(words.tolist()):
        if word % (count - place) < wanted - len(taken):
            taken.append(place)
    return np.array(taken)


class Rows:
    """The rows that are read, and the chance of each to be in a sample."""

    def __init__(self, queries, keys, seed=0, most=None):
        count = size_of_sample(queries, keys) if most is None else min(queries, most)
        self.sampled = count < queries
        self.chance = np.full(count, count / queries)
        self.rows = np.arange(queries)
        if self.sampled:
            self.rows = in_sequence(Stream(seed, ROWS, 0, queries).words(), count)

    def ratio(self, above, below):
        """The ratio of the sums over all rows, and its standard error by linearisation (Särndal et al. 1992, 5.6)."""
        weight = 1 / self.chance
        denominator = (below * weight).sum()
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = float((above * weight).sum() / denominator)
        if not math.isfinite(ratio):
            return ratio, None
        if not self.sampled:
            return ratio, 0.0
        rest = (above - ratio * below) * weight
        drawn = self.chance < 1
        left = 1 - self.chance
        centre = (left * rest).sum() / left.sum()
        count = drawn.sum()
        return ratio, math.sqrt((left * (rest - centre) ** 2).sum() * count / (count - 1)) / abs(denominator)

    def mean(self, values):
        return self.ratio(np.asarray(values, float), np.ones(len(values)))

    def quantile(self, values, share):
        """The quantile, and its standard error: half of the distance between those of the share plus and minus its own."""
        order = np.argsort(values, kind="stable")
        sums = np.cumsum((1 / self.chance)[order])

        def at(share):
            return float(values[order[min(np.searchsorted(sums, share * sums[-1] * (1 - 1e-12)), len(order) - 1)]])

        value = at(share)
        moved = self.mean(values <= value)[1]
        return value, (at(min(1, share + moved)) - at(max(0, share - moved))) / 2 if self.sampled else 0.0


class SizedRows(Rows):
    """A sample in which larger rows are likelier: half of it is drawn evenly, half in proportion to size (Rosén 1997)."""

    def __init__(self, sizes, keys, seed=0):
        queries = len(sizes)
        count = size_of_sample(queries, keys)
        chance = np.full(queries, count / (2 * queries))
        whole, left = np.zeros(queries, bool), count / 2  # rows that are in every sample; what the others share
        while True:
            share = np.where(whole, 0, sizes)
            if not share.sum() > 0:
                chance = np.where(whole, 1, chance + left / (~whole).sum())
                break
            more = ~whole & (count / (2 * queries) + left / share.sum() * share >= 1)
            if not more.any():
                chance = np.where(whole, 1, chance + left / share.sum() * share)
                break
            whole |= more
            left -= more.sum() * (1 - count / (2 * queries))
        u = Stream(seed, ROWS, 1, 2 * queries).uniform()[:queries]
        with np.errstate(divide="ignore"):
            rank = u / (1 - u) * (1 - chance) / chance
        self.rows = np.sort(np.argsort(rank, kind="stable")[:count])
        self.chance, self.sampled = chance[self.rows], True


def shares(parts):
    return parts / parts.sum() if parts.sum() > 0 else 0 * parts


def sizes(written):
    """The sizes of rows: shares of the differences of sums, of the distances of outputs from their mean, of the errors."""
    z, exact_z, lse, exact_lse = written.approximate_z, written.exact_z, written.approximate_lse, written.exact_lse
    size = np.zeros(len(exact_z))
    if lse is not None and exact_lse is not None:
        gap = np.abs(lse - exact_lse)
        size += shares(np.where(gap > 1e-5, -np.expm1(-gap), 0) ** 2)
    size += shares(((exact_z - exact_z.mean(axis=0)) ** 2).sum(axis=1))
    errors = ((z - exact_z) ** 2).sum(axis=1)
    if math.sqrt(errors.sum() / (exact_z ** 2).sum()) > 1e-5:
        size += shares(np.sqrt(errors).astype(np.float32).astype(float) ** 2)
    return size
