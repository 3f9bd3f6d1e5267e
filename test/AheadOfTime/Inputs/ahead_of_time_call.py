# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""sparse-call on a shared object that sparse-compile made of the program.

    ahead_of_time_call.py [OPTION...] PROGRAM.mlir CALLS

takes what sparse-call takes, of which it ignores the options, and prints what it
prints, so that any test runs with EXECUTION_CALL="python ahead_of_time_call.py".
SPARSE_COMPILE_OPTIONS are the options of sparse-compile, such as "-O2
--cpu=x86-64-v3".

A line for each program is added to SPARSE_COMPILE_LOG: the options, and the vector
functions that the code calls."""

import os
import re
import subprocess
import sys


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.returncode}:\n{done.stderr[:4000]}")
    return done.stdout


def main():
    program, calls = sys.argv[-2:]
    options = os.environ.get("SPARSE_COMPILE_OPTIONS", "")
    run("sparse-compile", program, "-o", program, *options.split())
    library = program + ".so"
    symbols = run("llvm-nm", "-D", "--undefined-only", library)
    with open(os.environ["SPARSE_COMPILE_LOG"], "a", encoding="utf-8") as log:
        print(options, *re.findall(r"_ZGV\w+", symbols), sep="\t", file=log)
    sys.exit(subprocess.run(["sparse-call", library, calls],
                            check=False).returncode)


if __name__ == "__main__":
    main()
