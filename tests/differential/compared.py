"""A document of the program against the numbers that it must hold."""
import math
import re

# Numbers without a formula, and why.
NOT_COMPARED = {
    r"seconds($|\.)": "times of this machine",
    r"timings_ms": "times of this machine; their order is checked, and what comes from them by tests/evaluate",
    r"trials\[\]\.(speed_up|exact_ms)": "times of this machine",
    r"cost\.bytes": "is counted from how a plan lies in memory; tests/analysis/planned_costs.cpp counts it, too",
    r"trials\[\]\.measures\.(loss|hidden)": "a forward pass of a model; tests/effect has it, with models of transformers",
    r"trials\[\]\.measures\.\w+_(ms|speed_up)": "times of this machine",
}

# Each number that a command wrote, as (command, path), and each that was compared with a formula.
SEEN, COMPARED = set(), set()
SET = set()  # (variant, parameter) of each parameter that was set


class Document(dict):
    """What one command printed; `command` names it."""

    def __init__(self, command, content):
        super().__init__(content)
        self.command = command


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


def pattern(path):
    """The path without places in lists and numbers of levels: metrics[].level_mass_exact_#."""
    return re.sub(r"_\d+(?=$|_standard_error$)", "_#", re.sub(r"\[\d+\]", "[]", path))


def is_compared(path):
    return not any(re.match(name, pattern(path)) for name in NOT_COMPARED)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


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


def seen(document):
    SEEN.update((document.command, pattern(path)) for path, value in leaves(document) if is_number(value))


def compared(document, path):
    COMPARED.add((document.command, pattern(path)))


def differences(document, expected, texts=()):
    """Lines that say what is wrong. `expected`: {path: (value, error)}; `texts`: paths of words, which are no numbers.

    A number without a formula is a difference, and so is a formula without its number."""
    wrong, paths = [], set()
    for path, value in leaves(document):
        paths.add(path)
        if path not in expected:
            if is_compared(path) and not (isinstance(value, str) and any(path.startswith(text) for text in texts)):
                wrong.append(f"no formula for {path} = {value}")
            continue
        if is_number(value) and math.isfinite(expected[path][1]):
            compared(document, path)
        if differ(value, *expected[path]):
            right, error = expected[path]
            wrong.append(f"{path} is {value}; expected {right} within {error:.2g}")
    return wrong + [f"{path} is missing; expected {expected[path][0]}" for path in expected if path not in paths]
