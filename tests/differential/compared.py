"""A document of the program against the numbers that it must hold."""
import math


def leaves(document, path=""):
    """(path, value) of all that a JSON document holds: a.b, a[0].b."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from leaves(value, f"{path}[{index}]")
    else:
        yield path, document


def number(value):
    """As documents write it: null is not defined, infinity is a word."""
    return {"infinite": math.inf, "-infinite": -math.inf}.get(value, value) if isinstance(value, str) else value


def differ(found, expected, error):
    found = number(found)
    if isinstance(expected, float) and math.isnan(expected):
        expected = None
    if expected is None or found is None:
        return found is not None or expected is not None
    if isinstance(expected, str) or isinstance(found, str) or isinstance(expected, bool):
        return found != expected
    if math.isinf(expected) or math.isinf(found):
        return found != expected
    return not abs(found - expected) <= error


def differences(document, expected, texts=()):
    """Lines that say what is wrong. `expected`: {path: (value, error)}; `texts`: paths of words, which are no numbers.

    A number without a formula is a difference, and so is a formula without its number."""
    wrong, seen = [], set()
    for path, value in leaves(document):
        seen.add(path)
        if path not in expected:
            if not (isinstance(value, str) and any(path.startswith(text) for text in texts)):
                wrong.append(f"no formula for {path} = {value}")
        elif differ(value, *expected[path]):
            right, error = expected[path]
            wrong.append(f"{path} is {value}; expected {right} within {error:.2g}")
    return wrong + [f"{path} is missing; expected {expected[path][0]}" for path in expected if path not in seen]
