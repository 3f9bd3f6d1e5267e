# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compile a program once, call its functions many times, compare the results.

A `Program` is MLIR text and a list of calls, each with a check of its results.
The program `sparse-call` performs them. Arrays of bf16 are float32 in NumPy
(which has no such type) and hold numbers of bf16 only.

A sparse type names its encoding, as in tensor<3x?xf64, #CSR>. Such an argument
is a `Storage`, which is passed as it is, or a matrix of scipy.sparse or a tuple
(coordinates, values, shape), which the reader of files stores; such a result is
a `Storage`.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import zlib

import numpy as np

import masked_ops
from sparse_storage import Storage

FLOATS = ("f64", "f32", "f16", "bf16")
DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16,
          "bf16": np.float32, "i1": np.bool_, "i64": np.int64,
          "i32": np.int32, "i16": np.int16, "i8": np.int8,
          "index": np.int64}

# Seconds after which a process counts as one that hangs.
HANGS = 1800

# Options of the pipeline that programs are compiled with.
PIPELINE = os.environ.get("EXECUTION_PIPELINE", "")
# Whether lanes of a GPU share the sums of rows: as many as rows store on average.
SHARES_ROWS = "target=gpu" in PIPELINE


def to_type(array, element_type):
    """The array rounded to an element type, as it is kept in NumPy."""
    with np.errstate(over="ignore"):
        rounded = np.asarray(array).astype(DTYPES[element_type])
        if element_type == "bf16":
            rounded = np.where(np.isfinite(rounded),
                               masked_ops.round_to_bf16(rounded),
                               rounded).astype(np.float32)
    return rounded


def tensor_type(shape, element_type, dynamic=False, encoding=None):
    """tensor<...>; a scalar without a shape. An extent is ? if `dynamic`, a
    truth for all dimensions or a tuple of some, says so; `encoding` is the name
    of one."""
    if shape is None:
        return element_type
    if not isinstance(dynamic, tuple):
        dynamic = range(len(shape)) if dynamic else ()
    extents = ["?" if d in dynamic else str(extent)
               for d, extent in enumerate(shape)]
    suffix = f", #{encoding}" if encoding else ""
    return "tensor<" + "x".join(extents + [element_type]) + suffix + ">"


def encoding_of(type_):
    """The name of the encoding of a type; none if it is dense."""
    return type_.rstrip(">").split("#")[1] if "#" in type_ else None


def element_type_of(type_):
    """The element type of a type as MLIR writes it."""
    return re.sub(r"^tensor<|>$", "", type_).split(",")[0].lstrip("?x0123456789")


class Program:
    """Functions, and calls of them with checks."""

    def __init__(self, name, level=1, threads=2, pipeline=""):
        self.name, self.level, self.threads = name, level, threads
        self.pipeline = pipeline  # its options
        self.text, self.types, self.calls = [], {}, []
        self.unanswered = 0  # calls that the process did not come to
        self.repeats = {}  # by the number of a call
        self.encodings = {}
        self.comparisons, self.failures = 0, []
        self.seconds = None  # of processor time that sparse-call may take

    def define(self, text):
        """Adds MLIR text as it is."""
        self.text.append(text)

    def define_encoding(self, name, encoding):
        """Lets types name an encoding, as #name; returns the name."""
        if name not in self.encodings:
            self.define(f"#{name} = {encoding.mlir()}")
        assert self.encodings.setdefault(name, encoding) == encoding, name
        return name

    def entry(self, name, arguments, results, body):
        """Adds a public function of arguments %a0, %a1, ... of the types
        `arguments`, whose body returns values of the types `results`."""
        parameters = ", ".join(f"%a{i}: {type_}"
                               for i, type_ in enumerate(arguments))
        self.types[name] = (arguments, results)
        self.define(f"func.func @{name}({parameters}) -> "
                    f"({', '.join(results)}) {{\n{body}\n}}\n")

    def call(self, entry, arguments, check, label="", threads=None,
             repeats=0, check_memory=None):
        """Calls an entry; `check` gets the results and returns how many numbers
        it compared. If `check` is a string the call has to fail, with a
        message that contains it. Calls it `repeats` times before, and then
        `check_memory` gets what sparse-call has seen of the memory."""
        self.calls.append((entry, list(arguments), check, label,
                           self.threads if threads is None else threads))
        if repeats:
            self.repeats[len(self.calls) - 1] = (repeats, check_memory)

    @staticmethod
    def _to_bits(array, element_type):
        """The array as it is in a file."""
        array = np.ascontiguousarray(array, dtype=DTYPES[element_type]).reshape(
            np.shape(array))
        if element_type == "bf16":
            bits = array.view(np.uint32) if array.ndim else (
                array.reshape(1).view(np.uint32).reshape(()))
            array = (bits >> np.uint32(16)).astype(np.uint16)
        elif element_type == "i1" and np.any(array.view(np.uint8) > 1):
            array = array.view(np.uint8)
        return array

    @staticmethod
    def _from_bits(array, element_type):
        if element_type == "bf16":
            shape = array.shape
            bits = np.ascontiguousarray(array).astype(np.uint32)
            array = (bits << np.uint32(16)).view(np.float32).reshape(shape)
        return array

    def _write_array(self, folder, files, array, type_):
        element_type = element_type_of(type_)
        if encoding_of(type_):
            return self._write_sparse(folder, files, array, element_type)
        array = np.asarray(array, dtype=DTYPES[element_type])
        key = (array.tobytes(), array.shape, element_type)
        if key not in files:
            files[key] = os.path.join(folder, f"a{len(files)}.npy")
            np.save(files[key], self._to_bits(array, element_type))
        return files[key]

    def _write_sparse(self, folder, files, tensor, element_type):
        """Writes the components of a Storage, else entries."""
        path = os.path.join(folder, f"a{len(files)}.npz")
        files[path] = path
        if isinstance(tensor, Storage):
            components = [*tensor.components[:-1],
                          self._to_bits(tensor.values, element_type)]
            np.savez(path, shape=np.array(tensor.shape, np.int64),
                     **{f"component{i}": c for i, c in enumerate(components)})
            return path
        if hasattr(tensor, "tocoo"):
            matrix = tensor.tocoo()
            tensor = (np.stack(matrix.coords, 1), matrix.data, matrix.shape)
        coordinates, values, shape = tensor
        coordinates = np.asarray(coordinates, np.int64).reshape(-1, len(shape))
        np.savez(path, coords=coordinates.T, format=b"coo",
                 data=self._to_bits(values, element_type),
                 shape=np.array(shape, np.int64))
        return path

    def _read_array(self, path, type_):
        element_type = element_type_of(type_)
        encoding = encoding_of(type_)
        if not encoding:
            return self._from_bits(np.load(path), element_type)
        with np.load(path) as file:
            components = [file[f"component{i}"] for i in range(len(file) - 1)]
            # Positions and coordinates have no sign.
            components[:-1] = [c.view(f"u{c.itemsize}")
                               for c in components[:-1]]
            shape = tuple(file["shape"].tolist())
        values = self._from_bits(components.pop(), element_type)
        return Storage([*components, values], shape, self.encodings[encoding])

    def _choose(self, entries):
        """Leaves the entries of these names only."""
        def is_other(text):
            match = re.match(r"func\.func @([\w.$-]+)", text)
            return match and match.group(1) not in entries

        self.text = [text for text in self.text if not is_other(text)]
        self.types = {name: type_ for name, type_ in self.types.items()
                      if name in entries}
        kept = [n for n, call in enumerate(self.calls) if call[0] in entries]
        self.repeats = {kept.index(n): repeat
                        for n, repeat in self.repeats.items() if n in kept}
        self.calls = [self.calls[n] for n in kept]

    def run(self):
        """Performs the calls and their checks."""
        chosen = os.environ.get("EXECUTION_ENTRIES")  # for debugging
        if chosen:
            self._choose(chosen.split(","))
        # "K/N": every N-th entry by its name, from the K-th on. For targets
        # that take long.
        sample = os.environ.get("EXECUTION_SAMPLE")
        if sample:
            first, step = map(int, sample.split("/"))
            self._choose([name for name in self.types if
                          zlib.crc32(name.encode()) % step == first])
        keep = os.environ.get("EXECUTION_KEEP")
        # Results are synchronised with the disk, which in memory costs nothing.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        folder = (os.path.join(keep, self.name) if keep else
                  tempfile.mkdtemp(dir=memory))
        os.makedirs(folder, exist_ok=True)
        try:
            self._run(folder)
        finally:
            if not keep:
                shutil.rmtree(folder)
        return self

    def _run(self, folder):
        self.unanswered = len(self.calls)
        program = os.path.join(folder, "program.mlir")
        with open(program, "w", encoding="utf-8") as file:
            if self.pipeline:
                file.write(f"// --sparse-autograd={self.pipeline}\n")
            file.write("\n".join(self.text))
        files, lines, outputs = {}, [], []
        for number, (entry, arguments, _, _, threads) in enumerate(self.calls):
            types, results = self.types[entry]
            outputs.append([os.path.join(folder, f"r{number}_{i}" + (
                ".npz" if encoding_of(type_) else ".npy"))
                            for i, type_ in enumerate(results)])
            lines.append(json.dumps({
                "entry": entry, "threads": threads, "results": outputs[-1],
                "repeats": self.repeats.get(number, (0,))[0],
                "arguments": [
                    self._write_array(folder, files, a, t)
                    for a, t in zip(arguments, types, strict=True)]}))
        calls = os.path.join(folder, "calls.json")
        with open(calls, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU,
                               (self.seconds, self.seconds))

        # Another program may stand in for sparse-call (sanitized_call.py).
        command = os.environ.get("EXECUTION_CALL", "sparse-call").split()
        # And so may another target.
        pipeline = f"{self.pipeline} {PIPELINE}"
        try:
            done = subprocess.run([*command, f"-O{self.level}",
                                   f"--pipeline={pipeline}", program, calls],
                                  capture_output=True, text=True, check=False,
                                  timeout=HANGS,
                                  preexec_fn=limit if self.seconds else None)
        except subprocess.TimeoutExpired:
            self.failures.append(f"{self.name}: sparse-call did not end in "
                                 f"{HANGS} s")
            return
        said = []
        for line in done.stdout.splitlines():
            if line.startswith("memory "):
                self._check_memory(len(said), json.loads(line[7:]))
            else:
                said.append(line)
        for call, paths, line in zip(self.calls, outputs, said):
            self._check(call, paths, line)
        self.unanswered -= len(said)
        if done.returncode != 0 or len(said) != len(self.calls):
            where = ""
            if len(said) < len(self.calls) and said:
                where = f" in {self.calls[len(said)][0]}"
            self.failures.append(
                f"{self.name}: sparse-call ended with {done.returncode}{where}"
                f": {done.stderr[:4000]}")

    def _check_memory(self, number, memory):
        entry, _, _, label, _ = self.calls[number]
        try:
            self.comparisons += self.repeats[number][1](memory)
        except AssertionError as error:
            self.failures.append(f"{self.name}: {entry} {label}: {error}")

    def _check(self, call, paths, line):
        entry, _, check, label, _ = call
        try:
            if isinstance(check, str):
                assert line.startswith("error ") and check in line, (
                    f"expected the error '{check}', not: {line}")
                self.comparisons += 1
                return
            assert line == "ok", line
            results = [self._read_array(path, type_)
                       for path, type_ in zip(paths, self.types[entry][1])]
            self.comparisons += check(*results)
        except AssertionError as error:
            self.failures.append(f"{self.name}: {entry} {label}: {error}")


def finish(programs):
    """Runs programs, prints what came of it, and ends this one."""
    only = sys.argv[1:]
    programs = [p for p in programs if not only or p.name in only]
    for program in programs:
        program.run()
    failures = [f for p in programs for f in p.failures]
    for failure in failures[:50]:
        print("FAILED:", failure)
    comparisons = sum(p.comparisons for p in programs)
    functions = sum(len(p.types) for p in programs)
    calls = sum(len(p.calls) for p in programs)
    print(f"{functions} functions, {calls} calls, {comparisons} numbers "
          f"compared, {len(failures)} failures")
    sys.exit(1 if failures or comparisons == 0 else 0)


# Comparisons. Each returns how many numbers it compared.

def close(actual, expected, bound=0.0, what=""):
    """|actual - expected| <= bound elementwise; NaN and infinities exactly."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, (
        f"{what}: shape {actual.shape}, expected {expected.shape}")
    bound = np.broadcast_to(np.asarray(bound, np.float64), actual.shape)
    got = actual.astype(np.longdouble)
    wanted = expected.astype(np.longdouble)
    with np.errstate(invalid="ignore"):
        good = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
        good |= (np.isfinite(wanted) & np.isfinite(got) &
                 (np.abs(got - wanted) <= bound))
    if not np.all(good):
        at = tuple(int(i) for i in np.argwhere(~good)[0])
        raise AssertionError(
            f"{what}: {np.sum(~good)} of {good.size} differ, first at {at}: "
            f"{float(got[at])!r} instead of {float(wanted[at])!r} "
            f"+- {bound[at]:.3g}")
    return good.size


def same_bits(actual, expected, what=""):
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape, (
        f"{what}: {actual.dtype}{actual.shape} instead of "
        f"{expected.dtype}{expected.shape}")
    words = f"u{actual.itemsize}"
    differ = (np.ascontiguousarray(actual).reshape(-1).view(words) !=
              np.ascontiguousarray(expected).reshape(-1).view(words))
    if np.any(differ):
        at = np.argmax(differ)
        raise AssertionError(
            f"{what}: bits of {np.sum(differ)} of {actual.size} differ, first "
            f"at {tuple(map(int, np.unravel_index(at, actual.shape)))}: "
            f"{actual.flat[at]!r} instead of {expected.flat[at]!r}")
    return actual.size
