# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of the tree that no compiler checks: check-structure.py FOLDER

* Headers do not include each other in a circle.
* Numbers of machines and guesses about data are in their records
  (Target/CPUInfo.h, Target/GPUMachine.h, Target/TargetInfo.h,
  Analysis/Estimates.h) and nowhere else.
* No constant of one name and value stands in two files.
* Contractions are recognised by lib/Analysis/Contraction.cpp alone.
* How a level is stored is said by the table of level formats
  (Runtime/LevelFormats.def) alone: nothing else asks an encoding for its
  formats, names them, or has code for one of them by its number.
* Passes tell each other nothing by new marks on ops: there are two, the schedule
  of loops and cotangents while a derivative is built.
* Each file of lib/Analysis and lib/Transforms is named by a test of its own,
  in test/Analysis, test/Transforms or test/Unit.

Prints what breaks them; ends with 1 if anything does.
"""

import collections
import pathlib
import re
import sys

RECORDS = {"CPUInfo.h", "GPUMachine.h", "TargetInfo.h", "TargetInfo.cpp", "Estimates.h"}
# Words of names that only records give numbers to.
MACHINE_WORDS = re.compile(
    r"guess|assum|estimat|cache|lineBytes|lineLength|warpSize|warps?Count|"
    r"multiprocessor|vectorBits|vectorRegisters|sharedBytes", re.IGNORECASE)
# What tells formats of levels apart, beside their records: predicates of MLIR's
# sparse_tensor dialect, numbers of the C ABI, names.
LEVEL_FORMATS = re.compile(
    r"\bis(?:Dense|Batch|Compressed|LooseCompressed|Singleton|NOutOfM|WithPos|"
    r"WithCrd)LT\b|\b(?<!buildLevelType\()LevelFormat::\w+|"
    r"\bSPARSE_AUTOGRAD_LEVEL_(?!NONUNIQUE|FORMAT)[A-Z]\w*|"
    r'"(?:compressed|loose_compressed|singleton|structured\b[^"]*)"')
# Local names that say nothing by themselves.
GENERAL_NAMES = {"most", "depth", "longest", "levels", "alignment", "first"}
CONSTANT = re.compile(r"\bconstexpr\s+(?:unsigned\s+)?[\w:]+\s+(\w+\s*=[^;]*);")
# A number, or an expression of numbers; not one of names.
LITERAL = re.compile(r"(?:int64_t|uint64_t|size_t|double|[\d.\s()x<*+/'-])+$")


def read_sources(root):
    return {path: re.sub(r"//.*", "", path.read_text())
            for folder in ("include", "lib")
            for path in sorted((root / folder).rglob("*"))
            if path.suffix in (".cpp", ".h")}


def is_machine(root, path):
    """Whether a file has numbers of a machine because it is one."""
    return path.name in RECORDS or root / "lib/Runtime/Emulator" in path.parents


def find_constants(sources):
    """(name, value, file) of each constant that is a number."""
    for path, text in sources.items():
        for match in CONSTANT.finditer(text):
            for part in re.split(r",(?![^(]*\))", match[1]):
                name, _, value = (word.strip() for word in part.partition("="))
                value = " ".join(value.split())
                if re.search(r"\d", value) and LITERAL.match(value):
                    yield name, value, path


def check_numbers(root, sources):
    places = collections.defaultdict(set)
    for name, value, path in find_constants(sources):
        if is_machine(root, path):
            continue
        if MACHINE_WORDS.search(name):
            yield (f"{path.relative_to(root)}: '{name} = {value}' is a number of "
                   "a machine or a guess: it belongs to a record")
        places[name, value].add(path)
    for (name, value), paths in sorted(places.items()):
        if len(paths) > 1 and name not in GENERAL_NAMES:
            files = ", ".join(sorted(str(path.relative_to(root)) for path in paths))
            yield f"'{name} = {value}' stands in several files: {files}"


# What MLIR has to recognise contractions by.
CONTRACTION_MATCHERS = re.compile(
    r"\b(?:isaContractionOpInterface|ContractionOpInterface|isContractionBody|"
    r"inferContractionDims|isContractionInterfaceImpl)\b")


def check_contractions(root, sources):
    for path, text in sources.items():
        if path == root / "lib/Analysis/Contraction.cpp":
            continue
        for match in CONTRACTION_MATCHERS.finditer(text):
            yield (f"{path.relative_to(root)}: {match[0]} recognises contractions: "
                   "matchContraction (Analysis/Contraction.h) does")


def check_level_formats(root, sources):
    for path, text in sources.items():
        for match in LEVEL_FORMATS.finditer(text):
            yield (f"{path.relative_to(root)}: {match[0]} tells a level format "
                   "apart: ask its record (Runtime/LevelFormats.h)")


def check_includes(root, sources):
    def resolve(path, name):
        for candidate in (path.parent / name, root / "include" / name):
            candidate = pathlib.Path(*candidate.parts).resolve()
            if candidate in headers:
                return candidate
        return None

    headers = {path.resolve(): path for path in sources if path.suffix == ".h"}
    graph = {}
    for path in headers.values():
        names = re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)
        graph[path.resolve()] = [header for name in names
                                 if (header := resolve(path, name))]
    done, stack = set(), []

    def visit(header):
        if header in stack:
            circle = [*stack[stack.index(header):], header]
            yield "headers include each other: " + " -> ".join(
                str(headers[each].relative_to(root)) for each in circle)
            return
        if header in done:
            return
        stack.append(header)
        for other in graph[header]:
            yield from visit(other)
        stack.pop()
        done.add(header)

    for header in sorted(graph):
        yield from visit(header)


# Attributes of the dialect that programs, tools or callers read.
INTERFACE = {"name", "default", "mask_of", "gradient_of", "bound", "derivative_of",
             "memory_bound", "split", "gradients", "nnz", "any_format", "manifest"}
# What one pass leaves on ops for another: two names at most. What is new belongs
# to a table of one pass, an analysis, an inherent attribute or a type; what is
# said of loops, to their schedule.
MARKS = {"schedule", "cotangent"}


def check_marks(root, sources):
    folder = root / "include/SparseAutograd/Dialect/SparseAutograd/IR"
    texts = {path: path.read_text() for path in sorted(folder.glob("*.td"))}
    texts.update(sources)
    name = re.compile(r'(?:return|=)\s*"sparse_autograd\.(\w+)";')
    found = {match: path for path, text in texts.items() for match in name.findall(text)}
    for mark in sorted(found.keys() - INTERFACE - MARKS):
        yield (f"{found[mark].relative_to(root)}: 'sparse_autograd.{mark}' is a new mark "
               "of passes")
    unused = (INTERFACE | MARKS) - found.keys() if folder.exists() else ()
    for mark in sorted(unused):
        yield f"there is no 'sparse_autograd.{mark}' any more; check-structure.py lists it"


def check_tests(root):
    named = "".join(path.read_text() for folder in ("Analysis", "Transforms", "Unit")
                    for path in sorted((root / "test" / folder).rglob("*"))
                    if path.suffix in (".mlir", ".cpp"))
    for folder in ("Analysis", "Transforms"):
        for path in sorted((root / "lib" / folder).glob("*.cpp")):
            if not re.search(rf"\b(?:lib/{folder}/{path.stem}\.cpp|"
                             rf"{folder}/{path.stem}\.h)", named):
                yield f"lib/{folder}/{path.name} is named by no test"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    sources = read_sources(root)
    problems = [*check_includes(root, sources), *check_numbers(root, sources),
                *check_contractions(root, sources),
                *check_level_formats(root, sources), *check_marks(root, sources),
                *check_tests(root)]
    for problem in problems:
        print(problem)
    if not problems:
        print(f"{len(sources)} files keep the rules")
    sys.exit(1 if problems else 0)


main()
