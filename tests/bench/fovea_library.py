"""Fovea's CUDA back end in this process: bench/library.h by ctypes."""

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_longlong, c_void_p

FLOATS, DOUBLES = POINTER(c_float), POINTER(c_double)
FUNCTIONS = {  # name: result, arguments
    "message": (c_char_p, []),
    "device": (c_char_p, []),
    "contenders": (c_char_p, [c_longlong, c_int]),
    "open": (c_void_p, [c_char_p, c_char_p, c_longlong, c_longlong, c_longlong, c_int, FLOATS, FLOATS, FLOATS]),
    "close": (None, [c_void_p]),
    "settings": (c_char_p, [c_void_p]),
    "kernel": (c_char_p, [c_void_p]),
    "floor": (c_double, [c_void_p]),
    "gate": (c_int, [c_void_p, DOUBLES]),
    "run": (c_int, [c_void_p, DOUBLES, FLOATS]),
    "end_to_end": (c_double, [c_void_p]),
}


class Refused(Exception):
    """What the library says that it cannot do."""


class Library:
    def __init__(self, path):
        library = ctypes.CDLL(path)
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(library, "fovea_bench_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        if not self.device():
            raise Refused(self.message().decode())

    def refused(self):
        return Refused(self.message().decode())

    def names(self, n, causal):
        """(id, precision) of every contender."""
        return [tuple(line.split()) for line in self.contenders(n, causal).decode().splitlines()]


class Bound:
    """A contender that is bound to heads: q, k, v are host tensors of float32, [heads, n, d]."""

    def __init__(self, library, name, precision, q, k, v, causal):
        self.library = library
        heads, n, d = q.shape
        data = [ctypes.cast(x.contiguous().data_ptr(), FLOATS) for x in (q, k, v)]
        self.entry = library.open(name.encode(), precision.encode(), n, heads, d, causal, *data)
        if not self.entry:
            raise library.refused()

    def close(self):
        self.library.close(self.entry)

    def settings(self):
        return self.library.settings(self.entry).decode()

    def kernel(self):
        """What the last run was computed by."""
        return self.library.kernel(self.entry).decode()

    def floor(self):
        return self.library.floor(self.entry)

    def errors(self):
        """(logits, error, error of the plain formula) rows for statistics_of_runs.reason."""
        found = (c_double * 4)()
        if self.library.gate(self.entry, found) < 0:
            raise self.library.refused()
        return [("random", found[0], found[1]), ("peaked", found[2], found[3])]

    def kernels(self, z=None):
        """Milliseconds of the kernels; None where some of it may be time of the host. z: receives the output."""
        times = (c_double * 2)()
        if self.library.run(self.entry, times, ctypes.cast(z.data_ptr(), FLOATS) if z is not None else None) < 0:
            raise self.library.refused()
        return times[0] if times[1] <= 0.01 * times[0] else None

    def end_to_end(self):
        took = self.library.end_to_end(self.entry)
        if took < 0:
            raise self.library.refused()
        return took
