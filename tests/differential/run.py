#!/usr/bin/env python3
"""Every number of the program against formulas in float64 that were written apart from it.

    python3 tests/differential/run.py --heads 100000 --jobs 2

draws layers of heads with random rows, conditions and settings, lets the program compute them, and prints each number
that is not that of the formula, with what draws its layer again. The program is $FOVEA_PROGRAM, or the one of the
tests. A head counts once for each variant that computes it.
"""
import argparse
import collections
import multiprocessing
import os
import pathlib
import re
import sys
import tempfile

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy comes: matrices are small
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import bench
import cases
import choices
import compared
import compute
import coverage
import long_heads
import measures
import rankmap
import report
import settings
import spans
import sweep
import triage
from computed import Computed
from layers import Layer
from program import Program, Refused

ROOT = pathlib.Path(__file__).parents[2]
MOST_LINES = 8  # of one command
# One time in so many.
SOMETIMES = ((4, rankmap.check), (4, spans.check), (8, measures.check), (8, triage.check), (15, report.check), (15, sweep.check),
             (60, bench.check))
VARIANTS = settings.PAIRS + settings.CAP_AND_SINK + settings.NOTHING


class Trial:
    """What is tried with one layer."""

    def __init__(self, layer, program):
        self.layer, self.program, self.draw = layer, program, layer.draw
        self.counts, self.refusals, self.lines = collections.Counter(), collections.Counter(), []
        self.exact = None

    def attempt(self, check, *arguments):
        """What the check returns beside its lines; None if the program refuses."""
        result, wrong = None, []
        try:
            wrong, result = check(*arguments)
        except Refused as refusal:
            self.refusals[re.sub(r"[0-9.]+", "N", str(refusal))] += 1
            wrong = [] if "expected" in str(refusal) else [f"refused: {refusal}"]
        except Exception as error:  # whatever it is, the campaign goes on and says so
            if os.environ.get("FOVEA_TRACE"):
                raise
            wrong = [f"{type(error).__name__}: {error}"]
        if wrong:
            self.lines += [f"{self.layer.name}: {self.layer.describe()}", "  " + " ".join(self.program.words),
                           *("    " + line for line in wrong[:MOST_LINES])]
        if len(wrong) > MOST_LINES:
            self.lines.append(f"    and {len(wrong) - MOST_LINES} more")
        return result

    def compute(self, variant, values, seed):
        computed = Computed(self.program, self.layer, variant, values, seed)
        self.exact = self.exact or computed  # the first is that of exact attention
        self.counts[variant] += self.layer.heads
        return compute.check(self.layer, self.exact, computed), computed

    def run(self):
        draw, layer = self.draw, self.layer
        possible = [variant for variant in VARIANTS if settings.takes(variant, layer)]
        chosen = [str(variant) for variant in draw.random.permutation(possible)[:3]]
        for variant in ["exact"] + chosen + (["imported"] if layer.imported else []):
            values, seed = settings.drawn(variant, layer, draw), int(draw.random.integers(1000))
            computed = self.attempt(self.compute, variant, values, seed)
            if self.exact is None:  # nothing to compare with
                return
            for share, check in SOMETIMES:
                if computed and draw.one_in(share):
                    self.attempt(lambda: (check(self.program, layer, self.exact, computed), None))
        if chosen and draw.one_in(8):
            seed = int(draw.random.integers(1000))
            self.attempt(lambda: (choices.check(self.program, layer, chosen, seed), None))


def try_layer(task):
    """(counts, refusals, lines): how many heads were tried of which variant, what was refused, what was wrong."""
    seed, number, longest, path = task
    with tempfile.TemporaryDirectory() as folder:
        layer = Layer(seed, number, longest)
        layer.write(folder)
        trial = Trial(layer, Program(path, folder))
        trial.run()
        return trial.counts, trial.refusals, trial.lines, (compared.SEEN, compared.COMPARED, compared.SET)


def everything(path):
    """The cases beside random layers: what is wrong in them."""
    with tempfile.TemporaryDirectory() as folder:
        program = Program(path, folder)
        return cases.check(program) + long_heads.check(program)


def program_path():
    named = os.environ.get("FOVEA_PROGRAM")
    built = [ROOT / "build" / preset / "bin" / "fovea" for preset in ("tests", "release", "dev")]
    return named or next((str(path) for path in built if path.exists()), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heads", type=int, default=3000, help="end when so many were tried")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layer", type=int, help="try this one alone")
    parser.add_argument("--random", action="store_true", help="random layers alone, without the cases beside them")
    parser.add_argument("--longest", type=int, default=96, help="most tokens")
    options = parser.parse_args()
    path = program_path()
    if not path:
        sys.exit("the program is not built; expected its path in FOVEA_PROGRAM, or it in build/tests/bin")
    alone = options.layer is not None
    whole = not alone and not options.random
    lines = everything(path) if whole else []
    for line in lines:
        print(line, flush=True)
    first = options.layer if options.layer is not None else 1
    # A layer has a head at least.
    tasks = [(options.seed, number, options.longest, path) for number in range(first, first + options.heads)]
    counts, refusals, wrong = collections.Counter(), collections.Counter(), bool(lines)
    with multiprocessing.Pool(options.jobs) as pool:
        for more, refused, lines, noted in [try_layer(tasks[0])] if alone else pool.imap(try_layer, tasks):
            counts += more
            refusals += refused
            for known, new in zip((compared.SEEN, compared.COMPARED, compared.SET), noted):
                known |= new
            wrong += bool(lines)
            for line in lines:
                print(line, flush=True)
            if counts.total() >= options.heads:
                pool.terminate()
                break
    print(f"{counts.total()} heads, {wrong} layers with differences; "
          + ", ".join(f"{variant} {count}" for variant, count in sorted(counts.items())))
    for line in coverage.gaps(Program(path, None)) if whole else []:
        print(line)
        wrong += 1
    for text, count in refusals.most_common():
        print(f"refused {count} times: {text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
