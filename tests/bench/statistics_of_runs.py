"""What is said of measured times: spreads, ratios of pairs, and the gate before any time. Plain Python."""

import math

ONE_ROUNDING = 2.0**-23  # to fp32


def nearest_rank(samples):
    """The value at a share of the sorted samples, as figures.cpp has it."""
    ordered = sorted(samples)
    return lambda share: ordered[math.floor(share * (len(ordered) - 1) + 0.5)]


def spread(samples):
    """Median, 10th and 90th percentile of some samples."""
    at = nearest_rank(samples)
    return {"median": at(0.5), "p10": at(0.1), "p90": at(0.9), "samples": len(samples)}


def relative_spread(samples):
    """The range between the quartiles, over the median."""
    at = nearest_rank(samples)
    return (at(0.75) - at(0.25)) / at(0.5)


def ratios(theirs, ours):
    """How many times as long theirs takes as ours, round by round. None stands for a round that does not count."""
    pairs = [their / our for their, our in zip(theirs, ours) if their is not None and our]
    return spread(pairs) if pairs else None


def accurate(error, plain):
    """Whether an error is at most twice that of the plain formula in the same precision. NaN is not."""
    return error <= max(2 * plain, ONE_ROUNDING)


def reason(errors):
    """Why (logits, error, error of the plain formula) rows do not pass the gate; empty: they do."""
    for logits, error, plain in errors:
        if not accurate(error, plain):
            return f"error {error:.2g}, of the plain formula {plain:.2g}, on {logits} logits"
    return ""


def first_line(error):
    """The first line of what an error says, or its type where it says nothing: never empty."""
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


def compared(rows):
    """Adds to our rows the ratio to every peer of the same group, from samples that are then dropped.

    A row has "who" ("fovea" or "peer"), "what", "precision", "kernel_samples" and "end_to_end_samples": one a round,
    None where it does not count; from end to end there may be none when the time is up. Peers that plan within their
    kernels ("plans_within") are compared from end to end only.
    """
    peers = [row for row in rows if row["who"] == "peer"]
    for row in rows:
        for kind in ("kernel", "end_to_end"):
            if counted := [sample for sample in row[f"{kind}_samples"] if sample is not None]:
                row[f"{kind}_ms"] = spread(counted)
        if row["who"] != "fovea":
            continue
        if row["h200_floor_ms"] > 0:
            row["times_h200_floor"] = row["kernel_ms"]["median"] / row["h200_floor_ms"]
        row["peers_take_times"] = {}
        for peer in peers:
            both = {"end_to_end": ratios(peer["end_to_end_samples"], row["end_to_end_samples"])}
            if not peer.get("plans_within"):
                both["kernels"] = ratios(peer["kernel_samples"], row["kernel_samples"])
            row["peers_take_times"][f"{peer['what']} {peer['precision']}"] = both
    for row in rows:
        del row["kernel_samples"], row["end_to_end_samples"]
    return rows
