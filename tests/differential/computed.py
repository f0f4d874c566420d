"""What the program computed of a layer: the document and the tensors of one `fovea compute`."""
import math
import os

import tensor_file
from compared import SET, leaves, number

# Where other commands and tables call a number otherwise.
CALLED = {"row_rel_error_p50": "row_rel_error.p50", "row_rel_error_p90": "row_rel_error.p90",
          "row_rel_error_max": "row_rel_error.max", "attention_tv": "attention_tv.mean",
          "attention_tv_p90": "attention_tv.p90", "attention_tv_max": "attention_tv.max",
          "attention_kl": "attention_kl.mean", "attention_reverse_kl": "attention_reverse_kl.mean"}


def list_of(value):
    """Of 3,2 its numbers; anything else as it is."""
    numbers = isinstance(value, str) and value[:1] in "-0123456789"
    return [float(part) for part in value.split(",")] if numbers else value


class Computed:
    def __init__(self, program, layer, variant, values, seed):
        name = "out.safetensors"
        settings = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
        self.words = ["--variant", variant, *settings, "--seed", seed]
        has_p = variant != "imported" or "p" in layer.imported or "kept" in layer.imported
        dense = ["--dense"] if has_p else []
        self.document = program.json("compute", *layer.source, *self.words, *dense, "-o", name)
        self.tensors, self.metadata = tensor_file.read(os.path.join(program.folder, name))
        SET.update((variant, name) for name in values)
        self.variant, self.values, self.seed = variant, values, seed
        # Parameters that were not set are taken from the program.
        self.chosen = dict(leaves({name: list_of(value) for name, value in values.items()}))

    def of_head(self, name, head):
        """In float64; None where there is none."""
        return self.tensors[name][head].astype(float) if name in self.tensors else None

    def structure(self, head):
        return {name: tensor[head] for name, tensor in self.tensors.items() if name not in ("z", "lse", "p")}

    def measure(self, head, name):
        """A number of the document by the name that it has in tables; a divergence may be infinite there."""
        flat = dict(leaves(self.document["metrics"][head]))
        for divergence in ("attention_kl", "attention_reverse_kl"):
            if name == divergence + "_infinite_rows":
                return flat.get(divergence + ".infinite_rows")
            if name == divergence and flat.get(divergence + ".infinite_rows"):
                return math.inf
        return number(flat.get(CALLED.get(name, name)))
