"""Fovea's kernels beside PyTorch's:

torch_peers.py --out FILE [--library FILE] [--seconds S] [--lengths N,N..] [--d D,D..] [--causal no|yes|both]
               [--what ID,ID..] [--precisions P,P..] [--no-flex] [--spread SHARE]

Every back end of PyTorch by name, FlexAttention with the same block masks, the authors' HyperAttention where it is
installed, and with --library (bench/library.h) Fovea's contenders, all in this process, in turn, round after round:
12 heads, inputs that are never zeros and rotate beyond the caches. --what and --precisions choose among both, by the
names of Fovea's contenders. With --spread, rounds end as those of bench_kernels do (options.h).

First come errors: against float64, on random and on peaked logits. What has more than twice the error of the plain
formula in its precision is not timed. Times of kernels are events on the device behind a kernel that keeps it busy
until all is launched, so that no dispatch is counted; end to end is wall-clock time from Q, K and V in the memory of
the host to Z in it, with what a method prepares (hashes, trees, block masks).

The file is written whenever there is something new: after one run of each method, after the rounds, and after every
sample from end to end. What is compiled for long comes last in its group, when the others have been measured.
"""

import argparse
import json
import math
import os
import time
from contextlib import contextmanager

import torch

from fovea_library import Bound, Library, Refused
from statistics_of_runs import compared, first_line, reason, relative_spread
from torch_attention import TYPES, errors_of, peers, relative_error, rows_of_formula, sampled_rows

HEADS, ROUNDS, FEWEST_ROUNDS, PEAKED = 12, 30, 5, 16
BEYOND_CACHES = 128e6  # bytes


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
        bound = self.bound[0]
        return {"settings": bound.settings(), "kernel": bound.kernel(), "h200_floor_ms": bound.floor()}

    def close(self):
        for bound in self.bound:
            bound.close()


class Measured:
    """An entrant with its errors and times: one for each round and each turn from end to end, None where it took no
    part or where the time does not count."""

    def __init__(self, entrant, errors, rounds, turns):
        self.entrant, self.errors = entrant, errors
        self.kernels, self.end_to_end = [None] * rounds, [None] * turns
        self.first, self.last = entrant.kernels(0), None
        self.described = entrant.describe()

    def kernel_samples(self):
        """Before the rounds, in which all take turns, that of the first run."""
        return self.kernels or [self.first]

    def measure_end_to_end(self, at):
        self.last = self.entrant.end_to_end(at)
        self.end_to_end.append(self.last)

    def timed(self):
        return any(took is not None for took in self.kernel_samples())

    def settled(self, allowed):
        """Whether its times spread by no more than is allowed."""
        counted = [took for took in self.kernels if took is not None]
        return len(counted) >= FEWEST_ROUNDS and relative_spread(counted) <= allowed


class Group:
    """Entrants of one length, width and mask. Those that cannot run, or are not accurate, are refused with the reason.
    save(rows, refused) is called whenever there is something new."""

    def __init__(self, n, d, causal, spread, save):
        self.n, self.d, self.causal, self.spread, self.save = n, d, causal, spread, save
        self.ready, self.refused = [], []
        self.rounds = self.turns = 0

    def about(self, name, precision):
        return {"what": name, "precision": precision, "n": self.n, "heads": HEADS, "d": self.d, "causal": self.causal}

    def refuse(self, name, precision, why):
        print(f"left out: {name}, {precision}, n = {self.n}: {why}")
        self.refused.append(self.about(name, precision) | {"reason": why})

    def enter(self, name, precision, make):
        entrant = None
        try:
            entrant = make()
            errors = entrant.errors()
            why = reason(errors)
            if not why:
                self.ready.append(Measured(entrant, errors, self.rounds, self.turns))
        except Exception as error:  # a back end says in its own way that it cannot
            why = first_line(error)
        if why:
            self.refuse(name, precision, why)
            if entrant:
                entrant.close()
        self.save(self.rows(), self.refused)
        return None if why else entrant

    @contextmanager
    def refused_if_it_fails(self, each):
        try:
            yield
        except Exception as error:  # for want of memory, or another kernel ran than was asked for
            self.ready.remove(each)
            self.refuse(each.entrant.name, each.entrant.precision, first_line(error))
            each.entrant.close()

    def measure(self, until):
        """More rounds: as many as half of the time has room for, at least three, or until the times spread as little as
        was asked for. Then end to end, in turn: once each, and again what will be done in time."""
        began = time.monotonic()
        for more in range(ROUNDS):
            if more >= 3 and time.monotonic() > (began + until) / 2:
                break
            if self.spread and more >= FEWEST_ROUNDS and all(each.settled(self.spread) for each in self.ready):
                break
            for each in list(self.ready):
                with self.refused_if_it_fails(each):
                    each.kernels.append(each.entrant.kernels(self.rounds))
            self.rounds += 1
        self.save(self.rows(), self.refused)
        for more in range(FEWEST_ROUNDS if self.spread else ROUNDS):
            for each in list(self.ready):
                if more > 0 and time.monotonic() + each.last / 1e3 > until:
                    each.end_to_end.append(None)
                    continue
                with self.refused_if_it_fails(each):
                    each.measure_end_to_end(self.turns)
                if more == 0:
                    self.save(self.rows(), self.refused)
            self.turns += 1
        self.save(self.rows(), self.refused)

    def rows(self):
        rows = []
        for each in filter(Measured.timed, self.ready):
            entrant = each.entrant
            row = {"who": entrant.who} | self.about(entrant.name, entrant.precision) | each.described
            row["errors"] = {logits: {"relative": e, "allowed_twice": plain} for logits, e, plain in each.errors}
            rows.append(row | {"kernel_samples": each.kernel_samples(), "end_to_end_samples": each.end_to_end})
        return compared(rows)

    def close(self):
        for each in self.ready:
            if not each.timed():
                self.refuse(each.entrant.name, each.entrant.precision, "the device always waited for the host")
            each.entrant.close()
        self.save(self.rows(), self.refused)


def inputs_for(n, d):
    sets = max(1, min(8, math.ceil(BEYOND_CACHES / (8 * HEADS * n * d))))
    return [tuple(torch.randn(HEADS, n, d) for _ in range(3)) for _ in range(sets)]


def measure_group(n, d, causal, until, options, library, device, clock, save):
    began = time.monotonic()
    group = Group(n, d, causal, options.spread, save)
    heads = inputs_for(n, d)

    def wanted(what, precision):
        return (not options.what or what in options.what) and (
            not options.precisions or precision in options.precisions
        )

    estimate = None
    for name, precision in filter(lambda each: wanted(*each), library.names(n, causal) if library else []):
        entrant = group.enter(name, precision, lambda: OurEntrant(library, name, precision, heads, causal))
        if entrant and (name, precision) == ("hyper", "bf16"):
            estimate = entrant.errors_as_estimate()

    def enter(peer):
        if peer.estimates and not estimate:
            group.refuse(peer.name, peer.precision, "Fovea's own estimate, which its error is held against, is missing")
        else:
            group.enter(peer.name, peer.precision, lambda: PeerEntrant(peer, heads, causal, device, clock, estimate))

    found = [peer for peer in peers(n, HEADS, d, device, not options.no_flex) if wanted(peer.what, peer.precision)]
    compiled = [peer for peer in found if peer.compiles]
    for peer in found:
        if not peer.compiles:
            enter(peer)
    group.measure((began + until) / 2 if compiled else until)
    if compiled:
        for peer in compiled:
            enter(peer)
        group.measure(until)
    group.close()
    for row in group.rows():
        mask = "causal" if causal else ""
        print(f"{row['what']:16} {row['precision']} {n:7} {d:4} {mask:6} {row['kernel_ms']['median']:9.4g} ms,"
              f" end to end {row['end_to_end_ms']['median']:9.4g} ms")
    return group


def words(text):
    return text.split(",")


def numbers(text):
    return [int(word) for word in words(text)]


def main(arguments=None, device="cuda"):
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--library")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--lengths", type=numbers, default="16384,4096,131072,65536")
    parser.add_argument("--d", type=numbers, default="64")
    parser.add_argument("--causal", choices=("no", "yes", "both"), default="both")
    parser.add_argument("--what", type=words)
    parser.add_argument("--precisions", type=words)
    parser.add_argument("--no-flex", action="store_true")
    parser.add_argument("--spread", type=float, default=0)
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

    def save(more_rows, more_refused):
        unfinished = options.out + ".new"  # the program may end at any time
        with open(unfinished, "w") as file:
            json.dump({"torch": torch.__version__, "peers": rows + more_rows,
                       "refused_peers": refused + more_refused}, file)
        os.replace(unfinished, options.out)

    masks = {"no": (False,), "yes": (True,), "both": (False, True)}[options.causal]
    groups = [(n, d, causal) for d in options.d for n in options.lengths for causal in masks]
    for at, group in enumerate(groups):
        now = time.monotonic()
        left = options.seconds - (now - began)
        if left < 2:
            break
        group = measure_group(*group, now + left / (len(groups) - at), options, library, device, clock, save)
        rows += group.rows()
        refused += group.refused


if __name__ == "__main__":
    main()
