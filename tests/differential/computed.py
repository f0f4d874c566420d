"""What the program computed of a layer: the document and the tensors of one `fovea compute`."""
import os

import tensor_file
from compared import leaves
from layers import Layer


def list_of(value):
    """Of 3,2 its numbers; anything else as it is."""
    numbers = isinstance(value, str) and value[:1] in "-0123456789"
    return [float(part) for part in value.split(",")] if numbers else value


class Computed:

    def __init__(self, program, variant, values, seed):
        name = "out.safetensors"
        self.words = ["--variant", variant, *(word for key, value in values.items() for word in ("--set", f"{key}={value}")),
                      "--seed", seed]
        self.document = program.json("compute", Layer.FILE, *self.words, "--dense", "-o", name)
        self.tensors, self.metadata = tensor_file.read(os.path.join(program.folder, name))
        self.variant, self.seed = variant, seed
        # Parameters that were not set are taken from the program.
        self.chosen = dict(leaves({name: list_of(value) for name, value in values.items()}))

    def of_head(self, name, head):
        """In float64; None where there is none."""
        return self.tensors[name][head].astype(float) if name in self.tensors else None

    def structure(self, head):
        return {name: tensor[head] for name, tensor in self.tensors.items() if name not in ("z", "lse", "p")}
