# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs fuzz-ir on the programs of test/ and examples/: fuzz_ir.py SOURCE OPTION..."""

import pathlib
import subprocess
import sys

source = pathlib.Path(sys.argv[1])
programs = sorted(str(path) for folder in ("test", "examples")
                  for path in (source / folder).rglob("*.mlir"))
sys.exit(subprocess.run(["fuzz-ir", *sys.argv[2:], *programs]).returncode)
