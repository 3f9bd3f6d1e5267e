# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""sparse-call with the code of the program under AddressSanitizer.

    sanitized_call.py -O1 PROGRAM.mlir CALLS

takes what sparse-call takes and prints what it prints, so that any test runs
with EXECUTION_CALL="python sanitized_call.py". Every function gets the
attribute sanitize_address; the runtime is built with the sanitizer too, keeps nothing for
reuse and has zones around each block. So have the arguments. An access outside
of these, or to what is released, ends the program. MLIR's checks at run time of
what is loaded and stored are there as well: an index beyond an extent, though
inside of a buffer, is an error of the call.

SANITIZED_FOLDER holds the runtime and is filled by the first call.
SANITIZED_EDIT names a change that must be found: of the code (see EDITS, and next_row), or
short_argument, an argument that is shorter than it says."""

import ctypes
import functools
import glob
import json
import os
import re
import subprocess
import sys

import numpy as np

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 3))
CLANG = ["clang", "-g1", "-fPIC", "-fsanitize=address",
         "-shared-libasan"]
DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16,
          "bf16": np.uint16, "i1": np.bool_, "i64": np.int64, "i32": np.int32,
          "i16": np.int16, "i8": np.int8, "index": np.int64}


def _shifted(by):
    """Elements of f64 that lie `by` further."""
    def edit(code):
        return re.sub(
            r"^  %(\d+) = (getelementptr [\w ]*double, ptr %\d+), i64 (%\d+)$",
            rf"  %moved\1 = add i64 \3, {by}\n"
            r"  %\1 = \2, i64 %moved\1", code, flags=re.M)
    return edit


def _shortened(code):
    """Buffers that are 8 bytes shorter than was asked for."""
    return re.sub(
        r"^  %(\d+) = call ptr @sparseAutogradAllocate\(i64 (%\d+)\)",
        r"  %less\1 = sub i64 \2, 8" "\n"
        r"  %empty\1 = icmp slt i64 %less\1, 0" "\n"
        r"  %size\1 = select i1 %empty\1, i64 0, i64 %less\1" "\n"
        r"  %\1 = call ptr @sparseAutogradAllocate(i64 %size\1)", code,
        flags=re.M)


def _next_row(loops):
    """Loads from matrices with a column beyond the last: in the next row."""
    return re.sub(
        r"^( *%(\d+) = memref\.load %\w+\[%\w+, )(%\w+)(\] : memref<\?x\?xf64.*)$",
        r"%one\2 = arith.constant 1 : index" "\n"
        r"%next\2 = arith.addi \3, %one\2 : index" "\n"
        r"\1%next\2\4", loops, flags=re.M)


EDITS = {"after": _shifted(1), "before": _shifted(-1),
         "short_buffers": _shortened}


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{done.stderr[:4000]}")
    return done.stdout


def build_runtime(folder):
    """The objects of the runtime, with loops in place of a BLAS."""
    runtime = os.path.join(SOURCE, "lib", "Runtime")
    sources = [s for s in glob.glob(os.path.join(runtime, "**", "*.cpp"), recursive=True)
               if "OpenBLAS" not in s]
    objects = []
    for source in sorted(sources):
        name = os.path.splitext(os.path.basename(source))[0]
        objects.append(os.path.join(folder, name + ".o"))
        if not os.path.exists(objects[-1]):
            run([*CLANG, "-O1", "-std=c++17", "-fopenmp=libomp",
                 "-I" + os.path.join(SOURCE, "include"), "-I" + runtime, "-c",
                 source, "-o", objects[-1]])
    return objects


def pipelines(options):
    """That of the compiler in two, with checks of all that loops access between
    them."""
    said = subprocess.run(
        ["sparse-opt", f"--sparse-autograd={options}", "--dump-pass-pipeline",
         "-"],
        input="module {}", capture_output=True, text=True, check=True).stderr
    text = " ".join(said[said.index("builtin.module("):].split())
    first, loops, second = re.split(
        r"(sparse-autograd-linalg-to-loops\{[^}]*\}),", text)
    return (f"{first}{loops})",
            f"builtin.module(generate-runtime-verification, {second}")


def compile_program(program, folder):
    """A library of the program and the runtime."""
    edit = os.environ.get("SANITIZED_EDIT", "")
    # MLIR checks the indices of scalars, not those of vectors, which the zones
    # around blocks find.
    first, second = pipelines("prove-sparsity=false" + (
        " sparse-vector-bytes=0" if edit == "next_row" else ""))
    loops = run(["sparse-opt", f"--pass-pipeline={first}", program])
    if edit == "next_row":
        loops = _next_row(loops)
    code = run(["sparse-opt", f"--pass-pipeline={second}", "-"], input=loops)
    # Flags that LLVM has none for are left behind, and not known there.
    code = re.sub(r"\{fastmath = #arith\.fastmath<[\w,]+>\} ", "", code)
    code = run(["mlir-translate", "--mlir-to-llvmir"], input=code)
    code = re.sub(r"^(define [^\n]*\))( \{)$", r"\1 sanitize_address\2", code,
                  flags=re.M)
    code = EDITS.get(edit, lambda code: code)(code)
    text = program + ".ll"
    with open(text, "w", encoding="utf-8") as file:
        file.write(code)
    library = program + ".so"
    run([*CLANG, "-Wno-override-module", "-shared", "-fopenmp=libomp",
         "-x", "ir", text, "-x", "none", *build_runtime(folder), "-lm",
         "-lstdc++", "-rtlib=compiler-rt", "-unwindlib=libgcc", "-o", library])
    return library


# In the process that has loaded the sanitizer.

class Memory:
    """Blocks of exactly the size that is asked for."""

    def __init__(self):
        self.c = ctypes.CDLL(None)
        self.c.malloc.restype = ctypes.c_void_p
        self.c.malloc.argtypes = [ctypes.c_size_t]
        self.c.free.argtypes = [ctypes.c_void_p]
        self.blocks = []

    def copy(self, array, less=0):
        array = np.ascontiguousarray(array)
        block = self.c.malloc(max(array.nbytes - less, 0))
        ctypes.memmove(block, array.ctypes.data, max(array.nbytes - less, 0))
        self.blocks.append(block)
        return block

    def release(self):
        for block in self.blocks:
            self.c.free(block)
        self.blocks = []


def descriptor(block, shape):
    strides = [int(np.prod(shape[d + 1:])) for d in range(len(shape))]
    return [block, block, 0, *shape, *strides]


def component_types(encoding, element):
    result = []
    for level in encoding["levels"]:
        if level["format"] in ("compressed", "loose_compressed"):
            result.append(DTYPES[encoding["position_type"]])
        if level["format"] != "dense":
            result.append(DTYPES[encoding["coordinate_type"]])
    return result + [element]


def make_argument(memory, type_, path):
    """What an entry takes, as words."""
    dtype = DTYPES[type_["element_type"]]
    if "encoding" in type_:
        with np.load(path) as file:
            shape = file["shape"].tolist()
            arrays = [file[f"component{i}"] for i in range(len(file) - 1)]
        less = (arrays[-1].itemsize if os.environ.get(
            "SANITIZED_EDIT") == "short_argument" else 0)
        words = []
        for array in arrays:
            words += descriptor(memory.copy(array, less * (
                array is arrays[-1])), array.shape)
        words += shape
    else:
        array = np.load(path)
        assert array.dtype == dtype, path
        if "shape" not in type_:
            return memory.copy(array)
        words = descriptor(memory.copy(array), array.shape)
    return memory.copy(np.array(words, np.int64))


def take(runtime, words, rank, dtype):
    """A copy of a result, which is released."""
    allocated, aligned, offset = words[:3]
    shape, strides = words[3:3 + rank], words[3 + rank:3 + 2 * rank]
    size = np.dtype(dtype).itemsize
    array = np.empty(shape, dtype)
    if array.size:
        assert strides == descriptor(0, shape)[3 + rank:], "not row-major"
        ctypes.memmove(array.ctypes.data, aligned + offset * size, array.nbytes)
    assert runtime.sparseAutogradFree(ctypes.c_void_p(allocated)) == 0
    return array


def save_result(runtime, type_, words, path):
    dtype = DTYPES[type_["element_type"]]
    if "encoding" in type_:
        types = component_types(type_["encoding"], dtype)
        arrays = [take(runtime, words[5 * i:5 * i + 5], 1, t)
                  for i, t in enumerate(types)]
        np.savez(path, shape=np.array(words[5 * len(types):], np.int64),
                 **{f"component{i}": a for i, a in enumerate(arrays)})
    elif "shape" in type_:
        np.save(path, take(runtime, words, len(type_["shape"]), dtype))
    else:
        np.save(path, np.array(words, np.int64).view(dtype)[0])


def count_words(type_):
    rank = len(type_.get("shape", ()))
    if "encoding" in type_:
        return 5 * len(component_types(type_["encoding"], 0)) + rank
    return 3 + 2 * rank if "shape" in type_ else 1


def perform(library, calls):
    code = ctypes.CDLL(library)
    code.sparseAutogradLastError.restype = ctypes.c_char_p
    manifest = json.loads(ctypes.string_at(ctypes.addressof(
        ctypes.c_char.in_dll(code, "sparse_autograd_manifest"))))
    entries = {e["name"]: e for e in manifest["entries"]}
    # Progress lines are no answers.
    ignore = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p,
                              ctypes.c_void_p)(lambda record, data: 0)
    code.sparseAutogradSetLogHandler(ignore, None)
    memory = Memory()
    with open(calls, encoding="utf-8") as file:
        for line in filter(str.strip, file):
            call = json.loads(line)
            entry = entries[call["entry"]]
            code.sparseAutogradSetThreadCount(call["threads"])
            arguments = [make_argument(memory, type_, path) for type_, path in
                         zip(entry["arguments"], call["arguments"],
                             strict=True)]
            # Places of exactly their size.
            places = [memory.copy(np.zeros(count_words(t), np.int64))
                      for t in entry["results"]]
            pointers = [memory.copy(np.array(p, np.int64))
                        for p in (arguments, places)]
            status = getattr(code, entry["symbol"])(
                *map(ctypes.c_void_p, pointers))
            if status:
                print("error", code.sparseAutogradLastError().decode())
            else:
                for type_, place, path in zip(entry["results"], places,
                                              call["results"], strict=True):
                    words = (ctypes.c_int64 * count_words(type_)).from_address(
                        place)[:]
                    save_result(code, type_, words, path)
                print("ok")
            sys.stdout.flush()
            memory.release()


@functools.cache
def sanitizer():
    """The library of the sanitizer."""
    return run(["clang",
                "-print-file-name=libclang_rt.asan-x86_64.so"]).strip()


def main():
    program, calls = sys.argv[-2:]
    if sys.argv[1] == "--loaded":
        return perform(program, calls)
    library = compile_program(program, os.environ["SANITIZED_FOLDER"])
    # What Python keeps to the end is no leak of ours.
    options = "detect_leaks=0:exitcode=99:allocator_may_return_null=1"
    environment = {**os.environ, "LD_PRELOAD": sanitizer(),
                   "ASAN_OPTIONS": options, "SPARSE_AUTOGRAD_POOL_BYTES": "0",
                   "PYTHONMALLOC": "malloc"}
    sys.exit(subprocess.run([sys.executable, __file__, "--loaded", library,
                             calls], env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
