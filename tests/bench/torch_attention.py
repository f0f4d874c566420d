"""Attention by PyTorch, and by the authors of HyperAttention: the peers of the benchmark.

A peer has a name, a precision, a pattern of pairs and two functions: prepare(n, causal) makes what belongs to the
pattern alone (a block mask), run(q, k, v, causal, prepared) is the attention of [1, H, n, d] on the device.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Callable

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

TYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}


def every_pair(n):
    return lambda i, j: (i >= 0) & (j >= 0)


def stride_of(n):
    """As contenders.cpp chooses it."""
    return max(2, math.floor(math.sqrt(n) + 0.5))


def strided_pairs(n):
    """The last l keys and every l-th before them (core/variants/strided.cpp), with or without a causal mask."""
    stride = stride_of(n)
    return lambda i, j: ((i - j).abs() < stride) | ((i - j) % stride == 0)


def fixed_pairs(n):
    """The own block and the last c keys of every block (core/variants/fixed.cpp)."""
    stride = stride_of(n)
    return lambda i, j: (i // stride == j // stride) | (j % stride >= stride - 8)


PATTERNS = {"exact": every_pair, "strided": strided_pairs, "fixed": fixed_pairs}
MOST_LOGITS = 1e9  # that PyTorch's plain formula (SDPBackend.MATH) may hold


@dataclass
class Peer:
    name: str
    precision: str
    run: Callable
    what: str = "exact"  # Fovea's contender for the same
    prepare: Callable = lambda n, causal: None
    pairs: Callable = every_pair
    estimates: bool = False  # not the formula: its error is held against that of our own estimate
    plans_within: bool = False
    compiles: bool = False  # for long, when it is first used

    def mask_of(self, n, causal):
        pairs = self.pairs(n)
        return (lambda i, j: pairs(i, j) & (i >= j)) if causal else pairs


def sdpa(backend):
    def run(q, k, v, causal, _):
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, is_causal=causal)

    return run


def flex(device):
    """FlexAttention: how it runs, and how it makes the block mask of a pattern, both compiled. (Uncompiled, the mask
    of 131072 tokens takes 17 GB at first.)

    PyTorch compiles only a few variants of a function; after these it runs the function uncompiled, with just a
    warning. With fullgraph=True it raises an error instead, and each call of flex clears what was compiled before. A
    pattern is one function for each length and mask, since PyTorch compiles again for every new one.
    """
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    torch._dynamo.reset()
    attention, make_mask = (
        torch.compile(each, fullgraph=True, dynamic=False) for each in (flex_attention, create_block_mask)
    )

    def prepare(pairs):
        @cache
        def kept_pairs(n, causal):
            allowed = pairs(n)

            def kept(b, h, i, j):
                return allowed(i, j) & (i >= j) if causal else allowed(i, j)

            return kept

        def make(n, causal):
            if pairs is every_pair and not causal:
                return None
            return make_mask(kept_pairs(n, causal), None, None, n, n, device=device)

        return make

    def run(q, k, v, causal, mask):
        return attention(q, k, v, block_mask=mask)

    return run, prepare


def flex_peers(device):
    try:
        run, prepare = flex(device)
    except ImportError as error:
        print("left out: flex attention:", error)
        return
    for what, pairs in PATTERNS.items():
        yield Peer("flex " + what, "bf16", run, what, prepare(pairs), pairs, compiles=True)


def authors_hyper(n, d, device):
    """The module of HyperAttention's authors (github.com/amirzandieh/HyperAttention), where it can be imported; with
    the block, samples and shortest length of contenders.cpp."""
    from hyper_attention import HyperAttention

    block = min(256, n // 4)
    modules = {
        causal: HyperAttention(
            input_dim=d, lsh_num_projs=8, block_size=block, sample_size=block, min_seq_len=4096 if causal else 0
        ).to(device=device, dtype=TYPES["bf16"])  # its directions too
        for causal in (False, True)
    }
    return lambda q, k, v, causal, _: modules[causal](q, k, v, causal=causal)


def peers(n, heads, d, device, with_flex=True):
    """The peers of a length, for one group; those that this machine lacks say so when they run, or here."""
    backends = [
        (SDPBackend.FLASH_ATTENTION, "bf16"),
        (SDPBackend.CUDNN_ATTENTION, "bf16"),
        (SDPBackend.EFFICIENT_ATTENTION, "bf16"),
        (SDPBackend.EFFICIENT_ATTENTION, "fp32"),
    ]
    if heads * n * n <= MOST_LOGITS:
        backends += [(SDPBackend.MATH, "bf16"), (SDPBackend.MATH, "fp32")]
    for backend, precision in backends:
        yield Peer("sdpa " + backend.name.removesuffix("_ATTENTION").lower(), precision, sdpa(backend))
    if with_flex:
        yield from flex_peers(device)
    try:
        run = authors_hyper(n, d, device)
        yield Peer("authors' hyper", "bf16", run, "hyper", estimates=True, plans_within=True)
    except ImportError as error:
        print("left out: authors' hyper:", error)


def sampled_rows(n, count=128):
    """As many as sampled_rows.h takes for ours."""
    return torch.tensor([(2 * s + 1) * n // (2 * count) for s in range(count)])


def rows_of_formula(q, k, v, mask, rows, dtype):
    """Rows of Z of one head, [n, d]: in float64, or the plain formula of a precision. In 16 bits it rounds Q, K, V,
    the weights and the output, and adds in fp32, as the kernels do."""
    real = torch.float64 if dtype == torch.float64 else torch.float32
    q, k, v = (x.to(dtype).to(real) for x in (q, k, v))
    logits = q[rows] @ k.T / math.sqrt(q.shape[1])
    keys = torch.arange(k.shape[0], device=q.device)
    logits.masked_fill_(~mask(rows.to(q.device)[:, None], keys[None]), -math.inf)
    weights = (logits - logits.amax(1, keepdim=True)).exp()
    z = weights.to(dtype).to(real) @ v / weights.sum(1, keepdim=True)
    return z.to(dtype).to(torch.float64)


def relative_error(z, truth):
    return ((z.double() - truth).norm() / truth.norm()).item()


def errors_of(peer, z, q, k, v, causal):
    """The error of the first head of z, and that of the plain formula; q, k, v: [H, n, d] in fp32."""
    n = q.shape[1]
    rows, mask = sampled_rows(n), peer.mask_of(n, causal)
    truth = rows_of_formula(q[0], k[0], v[0], mask, rows, torch.float64)
    plain = rows_of_formula(q[0], k[0], v[0], mask, rows, TYPES[peer.precision])
    return relative_error(z[0, 0][rows].to(truth.device), truth), relative_error(plain, truth)
