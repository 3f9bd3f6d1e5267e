#!/usr/bin/env python3
"""Prints one line that sums up test runs: `N passed, N failed, N skipped`.

The figures are counted from the result files that lit wrote (lit --output).
Fails when a test failed, or when no test ran.

Usage: summarize-tests.py RESULTS.json...
"""

import collections
import json
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main():
    counts = collections.Counter()
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            for test in json.load(file)["tests"]:
                code = test["code"]
                # A code that is not known to be good counts as a failure.
                kind = (
                    "passed"
                    if code in PASSED
                    else "skipped" if code in SKIPPED else "failed"
                )
                counts[kind] += 1
    print(
        f"{counts['passed']} passed, {counts['failed']} failed, "
        f"{counts['skipped']} skipped"
    )
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
