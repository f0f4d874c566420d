"""Record the attention of a model, and look at it with Fovea.

    import fovea
    with fovea.record("run.safetensors", tokens=tokenizer.convert_ids_to_tokens(ids[0])):
        model(ids)
"""
from .errors import FoveaError, FoveaWarning
from .reader import Tensors, read
from .save import save

__all__ = ["FoveaError", "FoveaWarning", "Tensors", "read", "save"]
__version__ = "0.1.0"
