"""Rounds matrices to 8 bits, in blocks of 32 entries of a row that share a scale of 16 bits.

Rounding to the nearest keeps each entry near; what is wanted is that the products stay near. `compensated` therefore
rounds one column after the other and lets the columns that are left make up for the error (Frantar, Ashkboos, Hoefler and
Alistarh, GPTQ, ICLR 2023), and `refitted` moves the matrix beforehand to where its products with the inputs that the
rounded layers before it give are nearest to those that are wanted.
"""

import torch

BLOCK = 32
LARGEST = 127


def block_scales(w):
    """A scale for each block, [rows, cols / 32]: of 16 near the largest entry / 127 that with the least squared error."""
    blocks = w.float().reshape(w.shape[0], -1, BLOCK)
    most = blocks.abs().amax(2)
    best_error = best = None
    for share in torch.linspace(0.85, 1.0, 16):
        scale = (most * share / LARGEST).half().float()
        scale = torch.where(scale == 0, torch.ones_like(scale), scale)
        back = (blocks / scale[:, :, None]).round().clamp(-LARGEST, LARGEST) * scale[:, :, None]
        error = ((back - blocks) ** 2).sum(2)
        if best is None:
            best_error, best = error, scale
        else:
            best = torch.where(error < best_error, scale, best)
            best_error = torch.minimum(error, best_error)
    return best


def widened(scales):
    return scales.repeat_interleave(BLOCK, 1)


def compensated(w, scales, gram, damping=0.01):
    """The entries in 8 bits. `gram`, [cols, cols], is the mean of x x^T over the inputs x of the product w x; damping, a
    share of its mean diagonal, is that of the paper."""
    order = gram.diagonal().argsort(descending=True)
    gram = gram[order][:, order].double()
    gram = gram + damping * gram.diagonal().mean() * torch.eye(len(gram), dtype=gram.dtype)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(gram))
    passed_on = torch.linalg.cholesky(inverse, upper=True).float()
    left, steps = w.float()[:, order].T.contiguous(), widened(scales)[:, order].T.contiguous()
    entries = torch.empty_like(left)
    for j in range(len(left)):
        entries[j] = (left[j] / steps[j]).round().clamp(-LARGEST, LARGEST)
        error = (left[j] - entries[j] * steps[j]) / passed_on[j, j]
        left[j + 1:] -= passed_on[j, j + 1:, None] * error
    return entries[order.argsort()].T.contiguous().to(torch.int8)


def refitted(w, gram, cross, damping=0.01):
    """The matrix whose products with the inputs x are nearest to those of w with the inputs x' of the full model. `gram` is
    the mean of x x^T, `cross` that of x' x^T; what no input has stays as it is in w."""
    ridge = damping * gram.diagonal().mean().double() * torch.eye(len(gram), dtype=torch.float64)
    return torch.linalg.solve(gram.double() + ridge, (w.double() @ (cross.double() + ridge)).T).T.float()
