"""The tokens of a tokenizer's answer, one string for each place."""
from __future__ import annotations

from typing import Any, List, Optional

from .errors import FoveaError


def tokens_of(encoding: Any, tokenizer: Any = None, batch: int = 0) -> List[str]:
    """The tokens of what a tokenizer of Hugging Face returns: a BatchEncoding, a tokenizers.Encoding, or ids.

    Ids, and the answers of slow tokenizers, need the `tokenizer`. `batch` chooses a member of a batch.
    """
    lists = _lists_of(encoding, tokenizer)
    if not 0 <= batch < len(lists):
        raise FoveaError(f"batch is {batch}; the encoding has {len(lists)} members")
    return lists[batch]


def token_lists(given: Any, name: str) -> Optional[List[List[str]]]:
    """One list of tokens for each member of a batch, of what is given as `name`.

    That is a list of strings, a list of such lists, or what a tokenizer returned. Raises FoveaError.
    """
    if given is None:
        return None
    if isinstance(given, (str, bytes)):
        raise FoveaError(f"{name} is one string; expected a list of strings, one for each token")
    if _is_encoding(given):
        return _lists_of(given, None, name)
    if hasattr(given, "convert_ids_to_tokens") or hasattr(given, "id_to_token"):
        raise FoveaError(f"{name} is a tokenizer; expected what it returns for a text")
    try:
        items = _plain(given)
    except TypeError:
        raise FoveaError(f"{name} is of the type {type(given).__name__}; expected a list of strings") from None
    if items and _is_encoding(items[0]):
        return [tokens for item in items for tokens in _lists_of(item, None, name)]
    if items and isinstance(_plain_or_same(items[0]), (list, tuple)):
        return [[str(token) for token in _plain(item)] for item in items]
    return [[str(token) for token in items]]


def tokens_given(given: Any, name: str) -> Optional[List[str]]:
    """The same of one sequence."""
    lists = token_lists(given, name)
    if lists is not None and len(lists) != 1:
        raise FoveaError(f"{name} is a batch of {len(lists)}; expected the tokens of one sequence")
    return None if lists is None else lists[0]


def _is_encoding(given: Any) -> bool:
    return hasattr(given, "keys") or hasattr(given, "encodings") or _has_tokens(given)


def _has_tokens(given: Any) -> bool:
    """A tokenizers.Encoding; in a BatchEncoding `tokens` is a function."""
    own = getattr(given, "tokens", None)
    return own is not None and not callable(own)


def _lists_of(encoding: Any, tokenizer: Any, name: str = "") -> List[List[str]]:
    if getattr(encoding, "encodings", None):
        return [[str(token) for token in encoding.tokens(i)] for i in range(len(encoding.encodings))]
    if _has_tokens(encoding):
        return [[str(token) for token in encoding.tokens]]
    if hasattr(encoding, "keys"):
        if "tokens" in encoding:
            return token_lists(encoding["tokens"], name or "tokens") or []
        if "input_ids" not in encoding:
            raise FoveaError(f"{name or 'the encoding'} has the entries {', '.join(map(str, encoding.keys()))}; "
                             "expected input_ids or tokens, as a tokenizer returns")
    ids = _plain(encoding["input_ids"] if hasattr(encoding, "keys") else encoding)
    if tokenizer is None:
        raise FoveaError(f"{name or 'the encoding'} has ids alone: pass the tokenizer too, "
                         f"{name + '=fovea.' if name else ''}tokens_of(encoding, tokenizer)")
    batch = ids if ids and isinstance(ids[0], list) else [ids]
    return [[str(token) for token in tokenizer.convert_ids_to_tokens(each)] for each in batch]


def _plain(given: Any) -> List[Any]:
    """A list of a list, an array or a tensor."""
    return [_plain_or_same(item) for item in (given.tolist() if hasattr(given, "tolist") else list(given))]


def _plain_or_same(item: Any) -> Any:
    return item.tolist() if hasattr(item, "tolist") else item
