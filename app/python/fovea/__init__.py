"""Record the attention of a model, and look at it with Fovea.

    import fovea
    with fovea.record("run.safetensors", tokens=tokenizer.convert_ids_to_tokens(ids[0])):
        model(ids)
"""
from .errors import FoveaError, FoveaWarning
from .reader import Tensors, read
from .recording import Recording, record
from .save import save

__all__ = ["FoveaError", "FoveaWarning", "Recording", "Tensors", "read", "record", "save"]
__version__ = "0.1.0"
