# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which passes of the pipeline change nothing of any program.

    unchanging-passes.py [--options TEXT] SPARSE_OPT FILE_OR_FOLDER...

Compiles each .mlir file with `--sparse-autograd=OPTIONS` and compares the IR before
and after each pass. Prints, for each occurrence of a pass in the pipeline, how many
of the programs it has changed. Programs that are refused count up to there.
"""

import argparse
import hashlib
import pathlib
import re
import subprocess
import sys

DUMP = re.compile(r"// -----// IR Dump After .*?\(([\w-]+)\)")


def read_pipeline(sparse_opt, options):
    text = subprocess.run(
        [sparse_opt, "-", f"--sparse-autograd={options}", "--dump-pass-pipeline",
         "-o", "-"], input="module {}", check=True, capture_output=True,
        text=True).stderr
    return [match[1] for line in text.splitlines()
            if (match := re.fullmatch(r"  +([\w-]+)(?:\{.*\})?,?", line))]


def get_changes(sparse_opt, options, path):
    """(pass, whether it changed anything) of each pass that ran, in order."""
    process = subprocess.Popen(
        [sparse_opt, str(path), f"--sparse-autograd={options}", "-o", "/dev/null",
         "--mlir-disable-threading", "--mlir-print-ir-after-all",
         "--mlir-print-ir-module-scope"], stderr=subprocess.PIPE, text=True,
        errors="replace")
    changes, before, name, body = [], None, None, hashlib.sha256()

    def end():
        nonlocal before
        now = body.hexdigest()
        if name:
            # Before the first one, which checks the program, nothing is printed.
            differs = bool(changes) and now != before
            # A pass on functions runs several times.
            if changes and changes[-1][0] == name:
                changes[-1][1] |= differs
            else:
                changes.append([name, differs])
        before = now

    for line in process.stderr:
        if match := DUMP.match(line):
            end()
            name, body = match[1], hashlib.sha256()
        else:
            body.update(line.encode())
    end()
    process.wait()
    return changes


def align(pipeline, names):
    """Pairs of places in `pipeline` and in `names`, which has passes that passes run
    as well: a longest common subsequence."""
    length = [[0] * (len(names) + 1) for _ in range(len(pipeline) + 1)]
    for i in reversed(range(len(pipeline))):
        for j in reversed(range(len(names))):
            length[i][j] = (length[i + 1][j + 1] + 1 if pipeline[i] == names[j]
                            else max(length[i + 1][j], length[i][j + 1]))
    i = j = 0
    while i < len(pipeline) and j < len(names):
        if pipeline[i] == names[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif length[i + 1][j] >= length[i][j + 1]:
            i += 1
        else:
            j += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--options", default="")
    parser.add_argument("sparse_opt")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    pipeline = read_pipeline(given.sparse_opt, given.options)
    changed, ran = [0] * len(pipeline), [0] * len(pipeline)
    files = [file for path in given.paths
             for file in (sorted(path.rglob("*.mlir")) if path.is_dir() else [path])]
    for file in files:
        ran_here = get_changes(given.sparse_opt, given.options, file)
        for place, number in align(pipeline, [name for name, _ in ran_here]):
            ran[place] += 1
            changed[place] += ran_here[number][1]
    print(f"{len(files)} programs")
    for place, name in enumerate(pipeline):
        print(f"{place:3} {name:50} changes {changed[place]:4} of {ran[place]}")


if __name__ == "__main__":
    sys.exit(main())
