#!/usr/bin/env python3
"""Counts what a warp issues for one KV tile in the kernels of attention on tensor cores.

count_step.py FILE...: object files or cubins of attend_*.cu. Needs cuobjdump and nvdisasm, of the CUDA
toolkit or of PyPI's nvidia-cuda-cuobjdump and nvidia-cuda-nvdisasm. It counts the shortest way around the
loop that has the products: without masks, without a new maximum, and without the loops that copy keys and
values. The instructions of these loops for one copy of 16 bytes are shown apart.

count_step.py --check FILE...: checks what ptxas has made of the kernels of attend_wgmma without maps. The
instructions that a warp issues for a KV tile, and for each product with values, have upper bounds. With wide
heads the search for the largest logits stays between the wait for the logits and the wait for Z. The exit status
is 77 without the tools or such kernels.
"""
import heapq
import re
import shutil
import subprocess
import sys

SHOWN = ("HMMA", "HGMMA", "LDSM", "MUFU")  # products, reads of shared memory, exp2
MOST_INSTRUCTIONS = {True: 400, False: 440}  # of narrow and of wide heads: 382 and 425, and some room
MOST_FOR_A_PRODUCT = 5  # 2 to 4.1; where each needs a descriptor of its own, 6, which depend on one another
LEAST_BESIDE_VALUES = 60  # 64 comparisons


def kernels(file):
    """[(address, instruction)] for each kernel."""
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


def steps_of(code):
    """The shortest ways around the loops with the most products: indices of instructions, in their order."""
    products = [i for i, (_, text) in enumerate(code) if operation(text) in ("HMMA", "HGMMA")]
    follows = list(successors(code))
    found = []
    for i in products:
        ways = [[j] + way for j in follows[i] if (way := list(reversed(shortest(follows, j, i))))]
        if ways:
            found.append(min(ways, key=len))
    most = max((len(set(way) & set(products)) for way in found), default=0)
    return [way for way in found if len(set(way) & set(products)) == most]


def place(step, code, pattern):
    return next((k for k, i in enumerate(step) if re.search(pattern, code[i][1])), None)


def beside_values(step, code):
    """Instructions between the waits for the logits and for Z."""
    logits, z = (place(step, code, rf"WARPGROUP\.DEPBAR\.LE gsb0, 0x{left}") for left in (1, 0))
    return 0 if logits is None or z is None else (z - logits) % len(step)


def for_a_product(step, code):
    """Instructions for each product with values but the first: the way turned so that it begins with a group."""
    begin = place(step, code, r"WARPGROUP\.ARRIVE") or 0
    step = step[begin:] + step[:begin]
    at = [k for k, i in enumerate(step) if re.search(r"HGMMA.*tnspB", code[i][1])]
    return (at[-1] - at[0]) / (len(at) - 1)


def faults_of(name, code):
    narrow = "WgmmaShapeILi1ELi1E" in name
    steps = [step for step in steps_of(code) if sum("tnspB" in code[i][1] for i in step) > 1]
    if not steps:
        yield "no loop has products with values"
        return
    length = min(map(len, steps))
    if length > MOST_INSTRUCTIONS[narrow]:
        yield f"{length} instructions for a KV tile; expected at most {MOST_INSTRUCTIONS[narrow]}"
    product = max(for_a_product(step, code) for step in steps)
    # A single warpgroup of queries is for few of them, and has fewer uniform registers to spare.
    if product > MOST_FOR_A_PRODUCT and not re.search(r"WgmmaShapeILi\dELi\dELi1E", name):
        yield f"{product:.1f} instructions for a product with values; expected at most {MOST_FOR_A_PRODUCT}"
    beside = max(beside_values(step, code) for step in steps)
    if not narrow and beside < LEAST_BESIDE_VALUES:
        yield f"{beside} instructions between the waits for the logits and for Z; expected {LEAST_BESIDE_VALUES} at least"


def check(files):
    found = wrong = 0
    for file in files:
        for name, code in kernels(file).items():
            if not re.search(r"attend_wgmma_kernel.*ELb0E", name):
                continue
            found += 1
            for fault in faults_of(name, code):
                wrong += 1
                print(f"{name}: {fault}")
    print(f"{found} kernels of attend_wgmma without maps, {wrong} faults")
    return 1 if wrong else 0 if found else 77


def main(files):
    if not files:
        sys.exit(__doc__)
    if files[0] == "--check":  # no files: nothing is compiled for 9.0
        sys.exit(check(files[1:]))
    for file in files:
        for name, code in kernels(file).items():
            step = min(steps_of(code), key=len, default=None)
            if not step:
                continue
            counts = [operation(code[i][1]) for i in step]
            print(name)
            print(f"  {len(step)} instructions: " +
                  ", ".join(f"{counts.count(each)} {each}" for each in SHOWN) +
                  f"; {min(copy_loops(code), default=0)} for each copy of 16 bytes")


main(sys.argv[1:])
