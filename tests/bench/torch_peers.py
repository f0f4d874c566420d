"""torch_peers.py --out FILE [--seconds S]: PyTorch's attention on this GPU, each back end by name.

12 heads, d = 64, as bench_kernels measures ours: events on the device, peers of one length in turn,
medians, inputs rotated beyond the caches and never zeros, errors against float64 on sampled rows.
"""

import argparse
import json
import math
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

HEADS, D, ROUNDS, SAMPLED_ROWS = 12, 64, 30, 16
BEYOND_CACHES = 128e6  # bytes


def sdpa(backend):
    def run(q, k, v, causal):
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, is_causal=causal)

    return run


def flex():
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    compiled = torch.compile(flex_attention)
    make_mask = torch.compile(create_block_mask)  # else the mask of 131072 tokens takes 17 GB at first
    masks = {}

    def run(q, k, v, causal):
        n = q.shape[2]
        if causal and n not in masks:
            masks[n] = make_mask(lambda b, h, i, j: i >= j, None, None, n, n)
        return compiled(q, k, v, block_mask=masks[n] if causal else None)

    return run


def peers():
    bf16, fp32 = torch.bfloat16, torch.float32
    yield "sdpa flash", "bf16", bf16, sdpa(SDPBackend.FLASH_ATTENTION)
    yield "sdpa cudnn", "bf16", bf16, sdpa(SDPBackend.CUDNN_ATTENTION)
    yield "sdpa efficient", "bf16", bf16, sdpa(SDPBackend.EFFICIENT_ATTENTION)
    yield "sdpa efficient", "fp32", fp32, sdpa(SDPBackend.EFFICIENT_ATTENTION)
    try:
        yield "flex attention", "bf16", bf16, flex()
    except ImportError as error:
        print("left out: flex attention:", error)


def error_of(z, q, k, v, causal):
    """Relative, Frobenius, over sampled rows of the first head."""
    n = q.shape[2]
    rows = torch.tensor([(2 * s + 1) * n // (2 * SAMPLED_ROWS) for s in range(SAMPLED_ROWS)], device="cuda")
    q64, k64, v64 = (x[0, 0].double() for x in (q, k, v))
    logits = q64[rows] @ k64.T / math.sqrt(D)
    if causal:
        logits.masked_fill_(torch.arange(n, device="cuda")[None] > rows[:, None], -math.inf)
    truth = logits.softmax(1) @ v64
    return ((z[0, 0].double()[rows] - truth).norm() / truth.norm()).item()


def timed(run, inputs, causal):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run(*inputs, causal)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def spread(samples):
    samples = sorted(samples)

    def at(share):
        return samples[round(share * (len(samples) - 1))]

    return {"median": at(0.5), "p10": at(0.1), "p90": at(0.9), "samples": len(samples)}


def inputs_for(n, dtype, sets):
    return [
        tuple(torch.randn(1, HEADS, n, D, device="cuda", dtype=dtype) for _ in range(3)) for _ in range(sets)
    ]


def measure(n, causal, entrants, until):
    """Rows of one length and mask. Peers that this machine does not have are left out with a message."""
    rows, ready = [], []
    for name, precision, dtype, run in entrants:
        bytes_of_set = 4 * HEADS * n * D * dtype.itemsize
        sets = max(1, min(16, math.ceil(BEYOND_CACHES / bytes_of_set)))
        try:
            inputs = inputs_for(n, dtype, sets)
            z = run(*inputs[0], causal)  # compiles, warms up
            ready.append((name, precision, run, inputs, error_of(z, *inputs[0], causal), []))
        except Exception as error:  # a back end says in its own way that it cannot
            print(f"left out: {name}, {precision}, n = {n}: {str(error).splitlines()[0]}")
    for round in range(ROUNDS):
        if round >= 3 and time.monotonic() > until:
            break
        for _, _, run, inputs, _, samples in ready:
            samples.append(timed(run, inputs[round % len(inputs)], causal))
    for name, precision, _, _, error, samples in ready:
        row = {"what": name, "precision": precision, "n": n, "heads": HEADS, "d": D, "causal": causal}
        rows.append(row | {"device_ms": spread(samples), "error_against_float64": error})
        mask = "causal" if causal else ""
        print(f"{name:16} {precision} {n:7} {mask:6} {rows[-1]['device_ms']['median']:9.4g} ms, error {error:.2g}")
    return rows


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--out", required=True)
    arguments.add_argument("--seconds", type=float, default=60)
    options = arguments.parse_args()
    began = time.monotonic()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    entrants, rows = list(peers()), []
    groups = [(n, causal) for n in (16384, 4096, 131072, 65536) for causal in (False, True)]
    for at, (n, causal) in enumerate(groups):
        now = time.monotonic()
        left = options.seconds - (now - began)
        if left < 2:
            break
        rows += measure(n, causal, entrants, now + left / (len(groups) - at))
        with open(options.out, "w") as file:  # what there is, should the time be up
            json.dump({"torch": torch.__version__, "peers": rows}, file)


if __name__ == "__main__":
    main()
