#!/usr/bin/env python3
"""Counts what a warp issues for one KV tile in the kernels of attention on tensor cores.

count_step.py FILE...: object files or cubins of attend_*.cu. Needs cuobjdump and nvdisasm, of the CUDA
toolkit or of PyPI's nvidia-cuda-cuobjdump and nvidia-cuda-nvdisasm. It counts the shortest way around the
loop that has the products: without masks, without a new maximum, and without the loops that copy keys and
values. The instructions of these loops for one copy of 16 bytes are shown apart.

count_step.py --overlap FILE...: checks that each kernel of attend_wgmma without maps computes its
exponentials while its products of weights and values run: at least LEAST_OVERLAP of them between the wait
for the logits and the wait for Z. ptxas moves that wait if nothing keeps it where it is. The exit status is
77 without cuobjdump or such kernels.
"""
import heapq
import re
import shutil
import subprocess
import sys

SHOWN = ("HMMA", "HGMMA", "LDSM", "MUFU")  # products, reads of shared memory, exp2
LEAST_OVERLAP = 40  # of the 64 exponentials that a thread has for a KV tile


def kernels(file):
    """Of each kernel [(address, instruction)]."""
    tool = shutil.which("cuobjdump")
    if not tool or not shutil.which("nvdisasm"):
        print("count_step.py: cuobjdump or nvdisasm is missing; install the CUDA toolkit, or from PyPI "
              "nvidia-cuda-cuobjdump and nvidia-cuda-nvdisasm")
        sys.exit(77)
    listing = subprocess.run([tool, "-sass", file], capture_output=True, text=True, check=True).stdout
    found, current = {}, None
    for line in listing.splitlines():
        if name := re.search(r"Function : (\S+)", line):
            current = found.setdefault(name.group(1), [])
        elif current is not None and (text := re.match(r"\s+/\*([0-9a-f]{4,5})\*/\s+(.*?);", line)):
            current.append((int(text.group(1), 16), text.group(2).strip()))
    return found


def target(text):
    """(address, always) of a branch, or nothing."""
    branch = re.match(r"(@!?U?P\w+ )?BRA\b(.*)0x([0-9a-f]+)\s*$", text)
    return branch and (int(branch.group(3), 16), not branch.group(1) and "P" not in branch.group(2))


def successors(code):
    at = {address: i for i, (address, _) in enumerate(code)}
    for i, (_, text) in enumerate(code):
        branch = target(text)
        after = [at[branch[0]]] if branch and branch[0] in at else []
        ends = branch[1] if branch else re.match(r"(EXIT|RET|BRX)\b", text)
        yield after if ends or i + 1 == len(code) else after + [i + 1]


def shortest(follows, start, end):
    """The instructions after `start` up to `end`; none where no way leads there."""
    best, before, queue = {start: 0}, {}, [(0, start)]
    while queue:
        length, i = heapq.heappop(queue)
        if i == end:
            break
        for j in follows[i]:
            if length + 1 < best.get(j, len(follows) + 1):
                best[j], before[j] = length + 1, i
                heapq.heappush(queue, (length + 1, j))
    way = []
    while end != start:
        if end not in before:
            return []
        way.append(end)
        end = before[end]
    return way


def operation(text):
    return re.sub(r"^@!?U?P\w+ ", "", text).split()[0].split(".")[0]


def copy_loops(code):
    """Instructions for a copy, of each loop that does nothing else."""
    at = {address: i for i, (address, _) in enumerate(code)}
    for i, (_, text) in enumerate(code):
        branch = target(text)
        first = at.get(branch[0], i) if branch else i
        body = [operation(each) for _, each in code[first:i + 1]]
        if first < i and "LDGSTS" in body and "HMMA" not in body:
            yield len(body) // body.count("LDGSTS")


def overlaps(code):
    """The exponentials after each wait for logits, on the shortest way to a wait for Z."""
    waits = {left: [i for i, (_, text) in enumerate(code) if re.search(rf"WARPGROUP\.DEPBAR\.LE gsb0, 0x{left}", text)]
             for left in (0, 1)}
    follows = list(successors(code))
    for logits in waits[1]:
        ways = [way for z in waits[0] if (way := shortest(follows, logits, z))]
        way = min(ways, key=len)
        yield [operation(code[i][1]) for i in way].count("MUFU")


def check_overlaps(files):
    found = wrong = 0
    for file in files:
        for name, code in kernels(file).items():
            if not re.search(r"attend_wgmma_kernel.*ELb0E", name):
                continue
            counts = list(overlaps(code))
            found += 1
            if not counts or min(counts) < LEAST_OVERLAP:
                wrong += 1
                print(f"{name}: exponentials between the wait for the logits and the wait for Z: "
                      f"{counts or 'no such waits'}; expected at least {LEAST_OVERLAP}")
    print(f"{found} kernels of attend_wgmma without maps, {wrong} of them without overlap")
    return 1 if wrong else 0 if found else 77


def main(files):
    if not files:
        sys.exit(__doc__)
    if files[0] == "--overlap":
        sys.exit(check_overlaps(files[1:]))
    for file in files:
        for name, code in kernels(file).items():
            products = [i for i, (_, text) in enumerate(code) if operation(text) in ("HMMA", "HGMMA")]
            if not products:
                continue
            follows = list(successors(code))
            first, last = products[0], products[-1]
            step = shortest(follows, first, last) + shortest(follows, last, first)
            counts = [operation(code[i][1]) for i in step]
            print(name)
            print(f"  {len(step)} instructions: " +
                  ", ".join(f"{counts.count(each)} {each}" for each in SHOWN) +
                  f"; {min(copy_loops(code), default=0)} for each copy of 16 bytes")


main(sys.argv[1:])
