"""torch_peers.py --out FILE [--library FILE] [--seconds S] [--lengths N,N..]: Fovea's kernels beside PyTorch's.

Every back end of PyTorch by name, FlexAttention with the same block masks, the authors' HyperAttention where it is
installed, and with --library (bench/library.h) Fovea's contenders, all in this process, in turn, round after round:
12 heads, d = 64, inputs that are never zeros and rotate beyond the caches.

First come errors: against float64, on random and on peaked logits. What has more than twice the error of the plain
formula in its precision is not timed. Times of kernels are events on the device behind a kernel that keeps it busy
until all is launched, so that no dispatch is counted; end to end is wall-clock time from Q, K and V in the memory of
the host to Z in it, with what a method prepares (hashes, trees, block masks).
"""

import argparse
import json
import math
import time

import torch

from fovea_library import Bound, Library, Refused
from statistics_of_runs import compared, first_line, reason
from torch_attention import TYPES, errors_of, peers, relative_error, rows_of_formula, sampled_rows

HEADS, D, ROUNDS, PEAKED = 12, 64, 30, 16
BEYOND_CACHES = 128e6  # bytes
END_TO_END = 3  # samples at least, as they take long


class Clock:
    """Times of kernels alone."""

    def __init__(self):
        self.cycles = 4_000_000  # about 2 ms: more than dispatch takes

    def kernels(self, run):
        """Milliseconds, or None where the device has waited for the host, even after longer head starts."""
        for _ in range(5):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(self.cycles)
            begin.record()
            run()
            end.record()
            ahead = not begin.query()  # all was launched before the first kernel began
            end.synchronize()
            if ahead:
                return begin.elapsed_time(end)
            self.cycles *= 2
        return None


class PeerEntrant:
    """A peer with its inputs on the device."""

    who = "peer"

    def __init__(self, peer, heads, causal, device, clock, our_estimate):
        self.peer, self.heads, self.causal, self.device, self.clock = peer, heads, causal, device, clock
        self.name, self.precision = peer.name, peer.precision
        self.our_estimate = our_estimate  # Fovea's errors on random and on peaked logits, or none
        self.prepared = peer.prepare(heads[0][0].shape[1], causal)
        self.inputs = [self.upload(*each) for each in heads]

    def upload(self, q, k, v):
        return tuple(x[None].to(self.device).to(TYPES[self.precision]) for x in (q, k, v))  # rounded there

    def errors(self):
        q, k, v = self.heads[0]
        out = []
        for at, (logits, factor) in enumerate((("random", 1), ("peaked", PEAKED))):
            z = self.peer.run(*self.upload(factor * q, k, v), self.causal, self.prepared)  # compiles, warms up
            error, plain = errors_of(self.peer, z, factor * q, k, v, self.causal)
            out.append((logits, error, self.our_estimate[at] if self.peer.estimates else plain))
        return out

    def kernels(self, at):
        inputs = self.inputs[at % len(self.inputs)]
        return self.clock.kernels(lambda: self.peer.run(*inputs, self.causal, self.prepared))

    def end_to_end(self, at):
        heads = self.heads[at % len(self.heads)]
        torch.cuda.synchronize()
        begin = time.perf_counter()
        prepared = self.peer.prepare(heads[0].shape[1], self.causal)
        self.peer.run(*self.upload(*heads), self.causal, prepared).float().cpu()
        return 1e3 * (time.perf_counter() - begin)

    def describe(self):
        return {"plans_within": True} if self.peer.plans_within else {}

    def close(self):
        pass


class OurEntrant:
    """A contender of Fovea's, bound to each of the inputs."""

    who = "fovea"

    def __init__(self, library, name, precision, heads, causal):
        self.name, self.precision, self.causal, self.heads = name, precision, causal, heads
        self.bound = []
        try:
            for each in heads:
                self.bound.append(Bound(library, name, precision, *each, causal))
        except Exception:
            self.close()
            raise

    def errors(self):
        return self.bound[0].errors()

    def errors_as_estimate(self):
        """Against exact attention, on random and on peaked logits; for `hyper`."""
        out = []
        for factor in (1, PEAKED):
            q, k, v = self.heads[0]
            q = factor * q
            z = torch.empty_like(v)
            bound = Bound(self.bound[0].library, self.name, self.precision, q, k, v, self.causal)
            bound.kernels(z)
            bound.close()
            rows = sampled_rows(q.shape[1])
            mask = (lambda i, j: i >= j) if self.causal else (lambda i, j: (i >= 0) & (j >= 0))
            truth = rows_of_formula(q[0], k[0], v[0], mask, rows, torch.float64)
            out.append(relative_error(z[0][rows], truth))
        return out

    def kernels(self, at):
        return self.bound[at % len(self.bound)].kernels()

    def end_to_end(self, at):
        return self.bound[at % len(self.bound)].end_to_end()

    def describe(self):
        return {"settings": self.bound[0].settings(), "h200_floor_ms": self.bound[0].floor()}

    def close(self):
        for bound in self.bound:
            bound.close()


class Group:
    """Entrants of one length and mask. Those that cannot run, or are not accurate, are refused with the reason."""

    def __init__(self, n, causal, refused):
        self.n, self.causal, self.refused, self.ready = n, causal, refused, []

    def about(self, name, precision):
        return {"what": name, "precision": precision, "n": self.n, "heads": HEADS, "d": D, "causal": self.causal}

    def refuse(self, name, precision, why):
        print(f"left out: {name}, {precision}, n = {self.n}: {why}")
        self.refused.append(self.about(name, precision) | {"reason": why})

    def enter(self, name, precision, make):
        entrant = None
        try:
            entrant = make()
            errors = entrant.errors()
            why = reason(errors)
        except Exception as error:  # a back end says in its own way that it cannot
            errors, why = [], first_line(error)
        if not why:
            self.ready.append((entrant, errors, [], []))
            return entrant
        self.refuse(name, precision, why)
        if entrant:
            entrant.close()
        return None

    def measure(self, until):
        """Rows, of as many rounds as there is time for, at least three."""
        began = time.monotonic()
        for round in range(ROUNDS):
            if round >= 3 and time.monotonic() > until:
                break
            for entrant, _, kernels, _ in self.ready:
                kernels.append(entrant.kernels(round))
            if round < END_TO_END or time.monotonic() < (began + until) / 2:
                for entrant, _, _, end_to_end in self.ready:
                    end_to_end.append(entrant.end_to_end(round))
        rows = []
        for entrant, errors, kernels, end_to_end in self.ready:
            if any(took is not None for took in kernels):
                row = {"who": entrant.who} | self.about(entrant.name, entrant.precision) | entrant.describe()
                row["errors"] = {logits: {"relative": e, "allowed_twice": plain} for logits, e, plain in errors}
                rows.append(row | {"kernel_samples": kernels, "end_to_end_samples": end_to_end})
            else:
                self.refuse(entrant.name, entrant.precision, "the device always waited for the host")
            entrant.close()
        return compared(rows)


def inputs_for(n, sets):
    return [tuple(torch.randn(HEADS, n, D) for _ in range(3)) for _ in range(sets)]


def measure_group(n, causal, until, library, device, clock, refused):
    group = Group(n, causal, refused)
    heads = inputs_for(n, max(1, min(8, math.ceil(BEYOND_CACHES / (8 * HEADS * n * D)))))
    estimate = None
    for name, precision in library.names(n, causal) if library else []:
        entrant = group.enter(name, precision, lambda: OurEntrant(library, name, precision, heads, causal))
        if entrant and (name, precision) == ("hyper", "bf16"):
            estimate = entrant.errors_as_estimate()
    for peer in peers(n, D, device):
        if peer.estimates and not estimate:
            group.refuse(peer.name, peer.precision, "Fovea's own estimate, which its error is held against, is missing")
            continue
        group.enter(peer.name, peer.precision, lambda: PeerEntrant(peer, heads, causal, device, clock, estimate))
    rows = group.measure(until)
    for row in rows:
        mask = "causal" if causal else ""
        print(f"{row['what']:16} {row['precision']} {n:7} {mask:6} {row['kernel_ms']['median']:9.4g} ms,"
              f" end to end {row['end_to_end_ms']['median']:9.4g} ms")
    return rows


def main(arguments=None, device="cuda"):
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--library")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--lengths", default="16384,4096,131072,65536")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    library = None
    if options.library:
        try:
            library = Library(options.library)
        except (OSError, Refused) as error:
            print("left out: Fovea:", error)
    clock, rows, refused = Clock(), [], []
    groups = [(int(n), causal) for n in options.lengths.split(",") for causal in (False, True)]
    for at, (n, causal) in enumerate(groups):
        now = time.monotonic()
        left = options.seconds - (now - began)
        if left < 2:
            break
        rows += measure_group(n, causal, now + left / (len(groups) - at), library, device, clock, refused)
        with open(options.out, "w") as file:  # what there is, should the time be up
            json.dump({"torch": torch.__version__, "peers": rows, "refused_peers": refused}, file)


if __name__ == "__main__":
    main()
