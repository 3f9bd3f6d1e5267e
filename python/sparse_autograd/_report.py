# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls cost: reports for people and for programs, and log records."""

import logging
import threading

from . import _core

logger = logging.getLogger("sparse_autograd")


def _log_line(values):
    """A line of progress of compiled code, as a record whose `values` are the numbers."""
    if logger.isEnabledFor(logging.INFO):
        text = "  ".join(
            f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in values.items()
        )
        logger.info("%s", text, extra={"values": values})


_core.set_log_handler(_log_line)


class Report(dict):
    """The numbers of a report by their names; printed, a table.

    calls, seconds                  calls that returned, and the time in compiled code
    conversion_seconds              before and after that: arguments and results that are
                                    copied, indices of another width, results put together
    validation_seconds              in compiled code: positions and coordinates checked
    accumulation_seconds            in compiled code: entries of new patterns brought into
                                    order, where sparse gradients are added up
    conversion_share,               of all that time
    validation_share,
    accumulation_share
    bytes, dense_bytes              of the arguments and results of the last call, and
                                    what they would take if none was sparse
    compilations, compile_seconds   programs compiled, and the time that took
    cache_hits                      of these, those whose code was found on disk
    allocations, pool_hits          of the process: blocks of memory, and how many of
                                    them were there already
    peak_bytes                      of the process: the most in use at one time
    """

    def __str__(self):
        rows = []
        for name, value in self.items():
            if name.endswith("share"):
                text = f"{value:.1%}"
            elif name.endswith("seconds"):
                text = f"{value:.6f} s"
            else:
                text = f"{value:,}"
            rows.append((name.replace("_", " "), text))
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {text:>16}" for name, text in rows)


class Statistics:
    """What the calls of an entry have cost."""

    def __init__(self):
        self._lock = threading.Lock()
        self.calls = 0
        self.seconds = self.conversion_seconds = 0.0
        self.validation_seconds = self.accumulation_seconds = 0.0
        self.compilations, self.cache_hits, self.compile_seconds = 0, 0, 0.0
        self.bytes = self.dense_bytes = 0

    def add(self, seconds, conversion_seconds, times, values):
        """A call: `times` are nanoseconds in which the runtime copied, checked and
        accumulated, `values` its arguments and results, pairs of the components and the
        extents of a sparse one."""
        copied, checked, accumulated = (1e-9 * t for t in times)
        stored = dense = 0
        for arrays, extents in values:
            if not isinstance(arrays, list):
                continue
            size = sum(a.nbytes for a in arrays)
            stored += size
            if extents:
                size = arrays[-1].itemsize
                for extent in extents:
                    size *= extent
            dense += size
        with self._lock:
            self.calls += 1
            self.seconds += seconds - copied
            self.conversion_seconds += conversion_seconds + copied
            self.validation_seconds += checked
            self.accumulation_seconds += accumulated
            self.bytes, self.dense_bytes = stored, dense

    def compiled(self, seconds, is_cached):
        """A program that was compiled, or found compiled on disk."""
        with self._lock:
            self.compilations += 1
            self.cache_hits += is_cached
            self.compile_seconds += seconds


def report(all_statistics):
    """The report of several entries; bytes are those of the last one."""
    result = Report()
    kinds = ("conversion", "validation", "accumulation")
    for name in ("calls", "seconds", *(f"{kind}_seconds" for kind in kinds)):
        result[name] = sum(getattr(s, name) for s in all_statistics)
    total = result["seconds"] + result["conversion_seconds"]
    for kind in kinds:
        result[f"{kind}_share"] = result[f"{kind}_seconds"] / total if total else 0.0
    for name in ("bytes", "dense_bytes"):
        result[name] = getattr(all_statistics[-1], name) if all_statistics else 0
    for name in ("compilations", "cache_hits", "compile_seconds"):
        result[name] = sum(getattr(s, name) for s in all_statistics)
    counters = _core.counters()
    result["allocations"], result["pool_hits"] = counters["allocations"], counters["pool_hits"]
    result["peak_bytes"] = counters["peak_live_bytes"]
    return result
