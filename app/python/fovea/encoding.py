"""The tokens of a tokenizer's answer, one string for each place."""
from __future__ import annotations

from typing import Any, List

from .errors import FoveaError


def tokens_of(encoding: Any, tokenizer: Any = None, batch: int = 0) -> List[str]:
    """The tokens of what a tokenizer of Hugging Face returns: a BatchEncoding, a tokenizers.Encoding, or ids.

    Ids, and the answers of slow tokenizers, need the `tokenizer`. `batch` chooses a member of a batch.
    """
    own = getattr(encoding, "tokens", None)
    if own is not None and not callable(own):
        return [str(token) for token in own]
    if getattr(encoding, "encodings", None):
        return [str(token) for token in encoding.tokens(batch)]
    ids = encoding["input_ids"] if hasattr(encoding, "keys") else encoding
    ids = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    if ids and isinstance(ids[0], list):
        ids = ids[batch]
    if tokenizer is None:
        raise FoveaError("these are ids: pass the tokenizer too, tokens_of(ids, tokenizer)")
    return [str(token) for token in tokenizer.convert_ids_to_tokens(ids)]
