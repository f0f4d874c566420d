"""Settings of the variants that are drawn for a layer."""

CACHES = ("h2o", "snapkv", "expected")
PRECISIONS = ("int8", "int4", "fp8", "nvfp4")
# That take conditions on single pairs; a soft cap and sinks alone; nothing beside a causal mask (app/README.md).
PAIRS = ("fixed", "strided", "tf", "hyper", "window", "longformer", "bigbird", "reformer", "kde", "moba",
         "vertical_slash", "msa", "dsa", "xattention", "sparge", "quest", "oracle", "sta", "svg",
         "radial", "svg2") + CACHES + PRECISIONS
CAP_AND_SINK = ("h1d",)
CAUSAL = ("delta", "ssd", "loglinear")
NOTHING = ("tc", "linformer", "sinkhorn", "synthesizer", "linear", "performer", "nsa") + CAUSAL
BIDIRECTIONAL = ("kde", "linformer", "sinkhorn", "sta", "svg", "radial", "svg2")
ANY_LENGTHS = ("tf", "tc", "moba", "msa", "nsa", "dsa", "quest", "oracle") + PRECISIONS
LAST_QUERIES = ("fixed", "strided", "window", "longformer", "bigbird")  # under a causal mask


def takes(variant, layer):
    """Whether a variant has a form for the conditions, the mask, the lengths and the values of a layer."""
    if variant == "exact":
        return True
    if layer.pairs and variant not in PAIRS:
        return False
    if layer.conditions and variant in NOTHING:
        return False
    if variant in (BIDIRECTIONAL if layer.causal else CAUSAL + CACHES):
        return False
    if variant == "kde" and not layer.dv:
        return False
    last = layer.causal and layer.queries < layer.keys
    return layer.queries == layer.keys or variant in ANY_LENGTHS or (variant in LAST_QUERIES and last)


def drawn(variant, layer, draw):
    """{parameter: value}, all that may be set."""
    n = layer.keys

    def size(least=1):
        return draw.size(least, max(least, n + 2))

    def sinks():
        return size(0) if draw.one_in(2) else 0

    sampling = {"block": size(), "samples": size(), "projections": int(draw.random.integers(1, 9))}
    if variant == "h1d":
        return {"block": 2 * draw.size(1, n // 4 + 1), "structure": draw.of(["banded", "nested"]),
                "causal_query": draw.of(["first", "fine", "mean"])}
    if variant == "fixed":
        stride = size()
        summary = draw.size(1, stride)
        return {"stride": stride, "summary": summary, "heads": draw.of(["merged", "first", "second", "split"]),
                "subblocks": draw.size(1, stride // summary), "sinks": sinks()}
    if variant == "strided":
        return {"stride": size(), "heads": draw.of(["merged", "first", "second", "split"]), "sinks": sinks()}
    if variant in ("tf", "tc"):
        tree = {"tree": draw.of(["median", "median", "random", "single"])}
        if layer.dv and draw.one_in(8):
            tree = {"tree": "learned", "steps": draw.size(1, 4), "cost": draw.of([0.5, 1.15, 4.0])}
        tree |= ({"branching": draw.of(["3", "2,3", "5,2", "3,2"])} if draw.one_in(3) else
                 {"height": draw.size(0, 6)})
        if variant == "tf":
            return tree | {"empty": draw.of(["zero", "ancestor"])}
        depths = len(tree["branching"].split(",")) if "branching" in tree else tree["height"]
        alphas = draw.random.uniform(-0.5, 1, depths + 1).round(3)
        return tree | ({"alpha": ",".join(map(str, alphas))} if draw.one_in(2) else {})
    if variant == "hyper":
        sampling["min_length"] = draw.of([0, 1, size(0), size(0)])
        if not layer.causal and layer.dv and draw.one_in(3):
            sampling |= {"mode": "theory", "epsilon": draw.of([0.5, 1.5, 1000.0]), "kappa": draw.of([1.0, 3.0, 100.0])}
        return sampling
    if variant == "kde":
        return sampling
    if variant == "window":
        return {"width": size(0), "sinks": sinks()}
    if variant == "longformer":
        return {"width": size(0), "globals": size(0)}
    if variant == "bigbird":
        return {"block": size(), "window": int(2 * draw.random.integers(0, 4) + 1), "random": draw.size(0, 8)}
    if variant in ("moba", "msa", "oracle"):
        return {"block": size(), "blocks": draw.size(1, 8)}
    if variant == "nsa":
        return {"block": 2 ** int(draw.random.integers(0, 6)), "blocks": draw.size(1, 8), "window": size()}
    if variant == "svg2":
        return {"query_size": size(), "key_size": size(), "tau": draw.of([0.0, 0.437, 0.871, 1.0]),
                "least": draw.of([0.0, 0.1, 0.5, 1.0]), "rounds": draw.size(1, 20)}
    if variant in ("sta", "svg", "radial"):
        side = max(2, int(n ** 0.5))
        grid = {"height": draw.size(1, side), "width": draw.size(1, side), "text": draw.of([0, 1, 3, n]),
                "text_place": draw.of(["first", "last"])}
        if variant == "radial":
            return grid | {"reach": draw.of([0.0, 0.1, 0.3, 0.6, 1.0, 2.0]), "first_frame": draw.of(["masked", "attended"])}
        if variant == "svg":
            return grid | {"pattern": draw.of(["spatial", "temporal"]), "reach": draw.of([0.0, 0.5, 1.3, 2.0]),
                           "first_frame": draw.of(["masked", "attended"])}
        return grid | {name: draw.size(1, 4) for name in ("tile_frames", "tile_rows", "tile_columns", "box_frames",
                                                          "box_rows", "box_columns")}
    if variant == "quest":
        return {"page": size(), "pages": draw.size(1, 8)}
    if variant == "dsa":
        return {"tokens": size(), "activation": draw.of(["relu", "none"])}
    if variant == "h2o":
        return {"budget": size(), "recent": draw.of([0.0, 0.3, 0.5, 1.0])}
    if variant == "snapkv":
        return {"budget": size(), "window": draw.size(1, 9), "reach": draw.size(0, 4), "prompt": draw.of([0.0, 0.4, 0.8, 1.0])}
    if variant == "expected":
        return {"budget": size(), "sinks": draw.size(0, 5), "prompt": draw.of([0.0, 0.4, 0.8, 1.0]),
                "values": draw.of(["counted", "ignored"]) if layer.dv else "ignored",
                "rotary": draw.of([0.0, 100.0]), "future": draw.size(1, 9)}
    if variant == "vertical_slash":
        lines = {"last": size(), "first": size(0), "nearest": size(0)}
        if draw.one_in(3):
            return lines | {"rule": "mass", "gamma": draw.of([0.0, 0.3, 0.9])}
        return lines | {"vertical": size(), "slash": size()}
    if variant == "xattention":
        stride = draw.size(1, 8)
        return {"stride": stride, "block": stride * draw.size(1, 6), "tau": draw.of([0.0, 0.5, 0.9, 1.0])}
    if variant == "sparge":
        return {"query_block": size(), "key_block": size(), "tau": draw.of([0.0, 0.3, 0.9, 1.0]),
                "theta": draw.of([-1.0, 0.1, 0.5, 1.0])}
    if variant in PRECISIONS:
        values = {"keys": draw.of(["smoothed", "unsmoothed"]),
                  "weights": draw.of(["as_given", "nvfp4" if variant == "nvfp4" else "fp8"])}
        if variant in ("int8", "int4"):
            return values | {"query_block": size(), "key_block": size(), "values": draw.of(["as_given", "fp8"])}
        values["rounded"] = draw.of(["qkv", "kv"])
        if variant == "fp8":
            values |= {"scale": draw.of(["tensor", "block"]), "query_block": size(), "key_block": size(),
                      "value_scale": draw.of(["like_keys", "channel"])}
        return values
    if variant == "reformer":
        return {"rounds": int(draw.random.integers(1, 5)), "chunk": size()}
    if variant == "sinkhorn":
        return {"block": size(), "iterations": draw.size(1, 20), "temperature": draw.of([0.3, 0.75, 5.0])}
    if variant in ("linformer", "synthesizer"):
        return {"rank": size()}
    if variant == "performer":
        return {"features": size()}
    if variant in CAUSAL:
        gates = {"beta": draw.of([0.0, 0.3, 1.0, 1.9]), "half_life": size()}
        return gates | ({"fall": draw.of([0.0, 1.0, 2.5])} if variant == "loglinear" else {})
    return {}
