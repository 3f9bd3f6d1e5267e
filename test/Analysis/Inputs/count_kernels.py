"""Counts the kernels of each public function in a dump of IR on standard input: all,
those with shared memory, and those that multiply on tensor cores."""

import re
import sys

text = sys.stdin.read()
for problem in re.findall(r".*error: .*", text):
    sys.exit(problem)
for dump in text.split("// -----// IR Dump After ")[1:]:
    kernels = re.split(r"(?=gpu\.func @)", dump)[1:]
    names = re.findall(r"^  func\.func @(\w+)", dump, re.MULTILINE)
    print(f"{', '.join(names)}: {len(kernels)} kernels, "
          f"{sum('workgroup' in kernel for kernel in kernels)} of tiles, "
          f"{sum('mma' in kernel for kernel in kernels)} of tensor cores")
