# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %S/..
"""Every diagnostic of docs/derivatives.md is expected by a test."""

import pathlib
import subprocess
import sys

expected = "\n".join(
    line for path in pathlib.Path(sys.argv[1]).rglob("*.mlir")
    for line in path.read_text().splitlines() if "expected-error" in line)
table = subprocess.run(["derivative-rule-table", "--diagnostics"], check=True,
                       capture_output=True, text=True).stdout.splitlines()
missing = [line for line in table if line.split("\t")[1] not in expected]
for line in missing:
    print("no test expects:", line)
print(f"{len(table)} diagnostics, {len(missing)} of them without a test")
sys.exit(1 if missing or not table else 0)
