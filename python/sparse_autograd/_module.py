# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in MLIR, and the code that is made of them."""

import json
import os
import threading
import time

import scipy.sparse as sp

from . import _blas, _core
from ._errors import check
from ._report import Statistics, logger, report
from ._values import SparseTensor, ValueType

_PHASES = ("differentiate", "select-formats", "lower-sparse", "target")

# A context for each thread, so that threads compile at the same time, and for each
# process, which does not inherit a context's threads.
_contexts = threading.local()


def _forget_contexts():
    global _contexts
    _contexts = threading.local()


os.register_at_fork(after_in_child=_forget_contexts)


def _context():
    if not hasattr(_contexts, "value"):
        _contexts.value = _core.make_context()
    return _contexts.value


def _option(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(_option, value))
    return str(value)


def _options(options):
    """Options of the pipeline as text: threads=1, prove_sparsity=False."""
    return " ".join(
        f"{name.replace('_', '-')}={_option(value)}"
        for name, value in options.items()
        if value is not None
    )


class Module:
    """A program: a module of MLIR."""

    def __init__(self, handle):
        self._handle = handle

    @staticmethod
    def parse(text, name="<text>"):
        """Parses and verifies MLIR, text or bytecode (bytes). `name` is what
        errors call it."""
        if isinstance(text, str):
            text = text.encode()
        return Module(check(_context().parse(text, name)))

    @staticmethod
    def parse_file(path):
        """Parses and verifies a file."""
        with open(path, "rb") as file:
            return Module.parse(file.read(), os.fspath(path))

    @property
    def mlir(self):
        """The program as it is now."""
        return self.print()

    def print(self, locations=False, generic=False):
        """The program as text, with locations or in the general form of MLIR."""
        return self._handle.print(int(locations) + 2 * int(generic))

    def clone(self):
        """A copy, to run other passes on."""
        return Module(self._handle.clone())

    def run(self, pipeline, handler=None, **options):
        """Runs phases or passes in place; returns the module.

        `pipeline` is the last phase to run ("differentiate", "select-formats",
        "lower-sparse", "target"), with the options of the pipeline as keywords
        (threads=1, prove_sparsity=False); `handler(phase, mlir)`, if given, is
        called after each. Otherwise `pipeline` is passes by their names, as in
        "func.func(canonicalize,cse)".
        """
        if pipeline in _PHASES:
            text = _options({"compile-to": pipeline, **options})
            check(self._handle.run(text, handler))
        else:
            if options or handler:
                raise TypeError(
                    "options and a handler go with a phase, one of "
                    f"{', '.join(_PHASES)}; passes have their options in their text"
                )
            check(self._handle.run_passes(pipeline))
        return self

    def compile(
        self,
        target="cpu",
        device=None,
        optimization_level=3,
        handler=None,
        verbose=False,
        cache="default",
        **options,
    ):
        """Compiles a copy of the program for this process.

        `target` is "cpu" or "gpu"; `device` chooses the GPU ("cuda:1", or
        "emulated"); options of the pipeline are keywords (threads=1);
        `handler(phase, mlir)`, if given, is called after each phase. With `verbose`
        each phase is a record of the logger "sparse_autograd". Ctrl-C stops between
        phases.

        Code is kept for other processes in a folder: `cache` names it, or "off";
        "default" is SPARSE_AUTOGRAD_CACHE in the environment, else sparse-autograd in
        the user's folder for caches. With a handler, code is always compiled.

            executable = Module.parse(text).compile(optimization_level=1)
        """
        text = _options({"target": target, **options})
        begin = time.perf_counter()
        if handler:
            cache = "off"
        if verbose:
            handler = _Progress(handler)
        made = check(
            self._handle.compile(text, device, optimization_level, handler, os.fspath(cache))
        )
        if verbose:
            handler("from the cache" if made.is_cached else "machine code", "")
        executable = Executable(made)
        executable._statistics.compiled(time.perf_counter() - begin, made.is_cached)
        return executable

    def __repr__(self):
        return f"<Module of {len(self.mlir.splitlines())} lines of MLIR>"


class _Progress:
    """A handler of phases that logs them, and calls another one."""

    def __init__(self, handler):
        self._handler, self._last = handler, time.perf_counter()

    def __call__(self, phase, mlir):
        now = time.perf_counter()
        size = f", {len(mlir.splitlines())} lines" if mlir else ""
        logger.info("%s: %.3f s%s", phase, now - self._last, size)
        if self._handler and mlir:
            self._handler(phase, mlir)
        self._last = time.perf_counter()


def load(path):
    """Loads a shared object that sparse-compile made. It runs its code: load only
    what you trust."""
    return Executable(check(_core.load(os.fspath(path))))


class Entry:
    """A compiled function. Called with NumPy arrays, numbers and SciPy's sparse
    arrays, it returns what its signature says: one result, or a tuple.

    `out` has, for each result, None or an array that it is written to; of a sparse
    result it is a sparse array, or the array of its values. It is contiguous and
    overlaps no argument. Memory that is aligned to 64 bytes is written where the result
    is computed, other memory is copied to.

        executable.gradient(x, out=[None, dx])
    """

    def __init__(self, handle, description):
        self._handle = handle
        self.name = description["name"]
        self.arguments = [ValueType.of(a) for a in description["arguments"]]
        self.results = [ValueType.of(r) for r in description["results"]]
        self._places = [r.place for r in self.results]
        self._statistics = Statistics()
        self.__doc__ = self.signature

    @property
    def signature(self):
        """What it takes and returns, for people."""
        arguments = ", ".join(map(str, self.arguments))
        return f"{self.name}({arguments}) -> ({', '.join(map(str, self.results))})"

    def __call__(self, *arguments, out=None):
        if len(arguments) != len(self.arguments):
            raise TypeError(
                f"{self.name} takes {len(self.arguments)} arguments, not "
                f"{len(arguments)}: {self.signature}"
            )
        begin = time.perf_counter()
        taken = [t.take(a) for t, a in zip(self.arguments, arguments)]
        destinations = None if out is None else self._destinations(out)
        as_matrix = any(isinstance(a, sp.spmatrix) for a in arguments)
        called = time.perf_counter()
        *outcome, times = self._handle.call(self.name, taken, self._places, destinations)
        returned = time.perf_counter()
        _blas.check()
        values = check(outcome, lambda text: self._remedy(text, arguments))
        results = tuple(
            t.give(value, as_matrix) for t, value in zip(self.results, values)
        )
        seconds = returned - called
        self._statistics.add(
            seconds, time.perf_counter() - begin - seconds, times, [*taken, *values]
        )
        return results[0] if len(results) == 1 else results

    def _destinations(self, out):
        if len(self.results) == 1 and not isinstance(out, (tuple, list)):
            out = [out]
        if len(out) != len(self.results):
            raise TypeError(
                f"{self.name} returns {len(self.results)} results; out has {len(out)}: "
                f"{self.signature}"
            )
        return [t.destination(o) for t, o in zip(self.results, out)]

    def _remedy(self, message, arguments):
        """What to do about storage that breaks an invariant."""
        for type_, value in zip(self.arguments, arguments):
            if f"argument '{type_.name}': level" not in message:
                continue
            if isinstance(value, SparseTensor):
                return "its components are to be as docs/manifest.md says"
            return f"call sum_duplicates() of the {value.format.upper()} matrix first"
        return None

    def __repr__(self):
        return f"<Entry {self.signature}>"


class Executable:
    """Compiled code. Its entries are attributes, and items by name."""

    def __init__(self, handle):
        self._handle = handle
        self._statistics = Statistics()
        self.manifest = json.loads(handle.manifest)
        self.entries = {
            e["name"]: Entry(handle, e) for e in self.manifest["entries"]
        }

    @property
    def is_cached(self):
        """Whether the code was found on disk, where another process has stored it."""
        return self._handle.is_cached

    @property
    def report(self):
        """What the calls of its entries have cost, a Report: a dict that prints as a
        table.

            print(executable.report)
        """
        return report([self._statistics, *(e._statistics for e in self.entries.values())])

    def __getitem__(self, name):
        if name not in self.entries:
            raise KeyError(
                f"there is no entry '{name}'; there are: {', '.join(self.entries)}"
            )
        return self.entries[name]

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.entries:
            raise AttributeError(
                f"there is no entry '{name}'; there are: {', '.join(self.entries)}"
            )
        return self.entries[name]

    def __dir__(self):
        return [*super().__dir__(), *self.entries]

    def __repr__(self):
        return f"<Executable with the entries {', '.join(self.entries)}>"
