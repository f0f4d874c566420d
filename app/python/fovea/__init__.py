"""Record the attention of a model, and look at it with Fovea.

    import fovea
    with fovea.record("run.safetensors", tokens=tokenizer.convert_ids_to_tokens(ids[0])):
        model(ids)
"""
from .encoding import tokens_of
from .errors import FoveaError, FoveaWarning
from .figure import Figure, figure
from .look import Looking, look
from .reader import Tensors, read
from .recording import Recording, record
from .replace import Replacing, replace
from .save import save
from .show import show
from .window import open

__all__ = ["Figure", "FoveaError", "FoveaWarning", "Looking", "Recording", "Replacing", "Tensors", "figure",
           "look", "open", "read", "record", "replace", "save", "show", "tokens_of"]
__version__ = "0.1.0"
