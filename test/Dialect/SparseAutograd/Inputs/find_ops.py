"""Fails unless every op of the dialect's reference occurs in a program.

Usage: find_ops.py REFERENCE PROGRAM
"""

import re
import sys

reference, program = (open(path, encoding="utf-8").read() for path in sys.argv[1:])
ops = re.findall(r"^### `(sparse_autograd\.\w+)`", reference, re.MULTILINE)
if not ops:
    sys.exit("error: the reference lists no op")
missing = [op for op in ops if f'"{op}"' not in program]
if missing:
    sys.exit("error: not in the program: " + ", ".join(missing))
