#!/usr/bin/env python3
"""Measures compiled programs on a GPU, and checks what they compute.

Each kernel is compared with a reference in f64: all of it on small data, a part
of it on the data that is timed. A step is timed as the difference between
many and few steps of one call, so that what an entry does once (copies,
checks) does not count. Peers that can be imported are given the same data and
checked in the same way. See README.md.
"""

import argparse
import datetime
import json
import os
import statistics
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
# Not beside the scripts: Python takes copy.so for a module.
LIBRARIES = os.path.join(HERE, "lib")
sys.path.insert(0, HERE)
import peers  # noqa: E402
from compiled import Failure, Function, Runtime, Sparse  # noqa: E402
from kernels import GRAPHS, KERNELS, SIZES, worst_error  # noqa: E402

FEW = 2
CHECKED_STEPS = 3

# What is to hold: of a family of kernels, what it is compared with, the figure
# that counts, and the least that is enough.
CUSPARSE, PYTORCH, PYG = "cuSPARSE", "PyTorch", "PyG"
BARS = (
    ("spmv", (CUSPARSE, PYTORCH), "least", 1.0),
    ("transposed", (CUSPARSE, PYTORCH), "least", 1.0),
    ("row_update", (PYTORCH,), "least", 1.0),
    ("spmm", (CUSPARSE,), "mean", 1.1),
    ("spmm", (CUSPARSE,), "least", 0.95),
    ("sddmm", (CUSPARSE,), "mean", 1.1),
    ("sddmm", (CUSPARSE,), "least", 0.95),
    ("masked", None, "copy", 0.85),
    ("attention", (PYTORCH,), "least", 1.6),
    ("gcn", (PYG,), "least", 1.5),
)


def values_of(results):
    return {n: r.values if isinstance(r, Sparse) else r for n, r in results.items()}


def perturbed(results, wanted):
    """The results with one number changed: what the checks have to find."""
    if wanted:
        name = sorted(results)[0]
        array = np.array(results[name], copy=True)
        array.reshape(-1)[array.size // 2] += 0.01 * (1 + abs(array.reshape(-1)[array.size // 2]))
        results = {**results, name: array}
    return results


def errors_of(found, expected):
    return {name: worst_error(found[name], values) for name, values in expected.items()}


def errors_of_part(found, expected):
    """The same where only a part is known; a peer need not return all results."""
    return {name: worst_error(select(found[name]), values)
            for name, (select, values) in expected.items() if name in found}


def complaint(errors, tolerance):
    """What is wrong, if something is."""
    wrong = {n: e for n, e in errors.items() if not e <= tolerance}
    if not errors:
        return "nothing was compared"
    return ", ".join(f"'{n}' is off by {e:.1e}" for n, e in wrong.items())


class Bench:
    def __init__(self, options):
        self.options = options
        self.begin = time.monotonic()
        self.runtime = Runtime(LIBRARIES)
        self.runtime.set_device(options.device)
        self.functions, self.failures, self.rows, self.skipped = {}, [], [], []
        self.bandwidth = None

    def left(self):
        return self.options.deadline - (time.monotonic() - self.begin)

    def function(self, kernel):
        if kernel.program not in self.functions:
            self.functions[kernel.program] = Function(
                self.runtime, os.path.join(LIBRARIES, f"{kernel.program}.so"))
        return self.functions[kernel.program]

    def fail(self, what, why):
        self.failures.append(f"{what}: {why}")
        print(f"measure.py: error: {what}: {why}", file=sys.stderr, flush=True)

    def is_right(self, kernel, graph):
        """Whether all numbers are right on small data."""
        name = f"{kernel.name} {graph}".strip()
        generator = kernel.generator(graph)
        data = kernel.make(SIZES[self.options.check_size], graph, generator)
        expected = kernel.expected(data, CHECKED_STEPS)
        try:
            _, results = self.function(kernel)({**data, "steps": CHECKED_STEPS})
        except Failure as failure:
            self.fail(name, str(failure))
            return False
        found = perturbed(values_of(results), self.options.perturb == kernel.name)
        errors = errors_of(found, expected)
        numbers = sum(np.size(v) for v in expected.values())
        why = complaint(errors, kernel.tolerance)
        if why:
            self.fail(name, f"wrong: {why}")
            return False
        print(f"right: {name}, {numbers} numbers, error {max(errors.values()):.1e}", flush=True)
        return True

    def time_steps(self, call, counters):
        """The seconds of a step: its median, least and most; and what the
        runtime counted for one."""
        call(FEW)
        few = min(call(FEW), call(FEW))
        more = max(0.0, call(FEW + 8) - few) / 8
        # What a call does once varies by some hundredths: steps have to take longer.
        duration = max(self.options.seconds, 2 * few)
        many = FEW + int(min(20000, max(8, duration / max(more, 1e-7))))
        times = []
        for _ in range(self.options.repeats):
            before = counters()
            few = call(FEW)
            between = counters()
            times.append((call(many) - few) / (many - FEW))
            after = counters()
        per_step = {
            name: ((getattr(after, name) - getattr(between, name))
                   - (getattr(between, name) - getattr(before, name))) / (many - FEW)
            for name in ("launches", "waits", "allocations", "bytes_copied_on_device")}
        return statistics.median(times), min(times), max(times), per_step

    def measure(self, kernel, graph):
        """A row of the table: a kernel on a graph, and its peers."""
        name = f"{kernel.name} {graph}".strip()
        generator = kernel.generator(graph)
        data = kernel.make(SIZES[self.options.size], graph, generator)
        expected = kernel.expected_part(data, generator)
        function = self.function(kernel)
        row = {"kernel": kernel.name, "family": kernel.family, "graph": graph, "peers": {}}
        if "matrix" in data:
            row.update(rows=data["matrix"].shape[0], nnz=data["matrix"].nnz)
        try:
            _, results = function({**data, "steps": 1})
            found = perturbed(values_of(results), self.options.perturb == f"{kernel.name}-part")
            why = complaint(errors_of_part(found, expected), kernel.tolerance)
            del results, found
            if why:
                self.fail(name, f"wrong on large data: {why}")
                return
            seconds, least, most, per_step = self.time_steps(
                lambda steps: function({**data, "steps": steps}, keep=False)[0],
                self.runtime.counters)
            self.runtime.trim()
        except Failure as failure:
            self.fail(name, str(failure))
            return
        if not per_step["launches"] >= 1:
            self.fail(name, "a step launches nothing: it was hoisted or removed")
            return
        moved = kernel.bytes(data)
        row.update(seconds=seconds, least=least, most=most, bytes=moved, flops=kernel.flops(data),
                   **per_step)
        if seconds > 0:
            row.update(bandwidth=moved / seconds, rate=row["flops"] / seconds)
        if kernel.family == "copy":
            self.bandwidth = max(row["bandwidth"], peers.copy_bandwidth(moved // 2) or 0)
        if self.bandwidth and seconds > 0:
            row["of_copy"] = row["bandwidth"] / self.bandwidth
        self.rows.append(row)
        for peer in self.options.libraries:
            if self.left() < 0:
                self.skipped.append(f"{name}: {peer.name}")
                continue
            row["peers"][peer.name] = self.measure_peer(peer, kernel, data, expected, name)
        self.print_row(row)

    def measure_peer(self, peer, kernel, data, expected, name):
        """The seconds of a step of each way in which a library does it."""
        ways = {}
        try:
            makers = peer.ways(kernel, data)
        except Exception as error:  # whatever a library of others raises
            return {"error": f"{type(error).__name__}: {error}"}
        for way, make in makers.items():
            try:
                run = make()
                run.steps(1)
                why = complaint(errors_of_part(run.results(), expected),
                                10 * kernel.tolerance)
                if why:
                    ways[way] = {"error": f"another result: {why}"}
                    print(f"measure.py: {name}: {peer.name} ({way}) has another result: {why}",
                          file=sys.stderr, flush=True)
                    continue
                run.steps(3)
                once = max(peer.seconds(lambda: run.steps(3)) / 3, 1e-7)
                count = int(min(5000, max(5, self.options.seconds / once)))
                times = [peer.seconds(lambda: run.steps(count)) / count
                         for _ in range(self.options.repeats)]
                ways[way] = {"seconds": statistics.median(times)}
            except Exception as error:
                ways[way] = {"error": f"{type(error).__name__}: {str(error).splitlines()[:1]}"}
                print(f"measure.py: {name}: {peer.name} ({way}) is not measured: "
                      f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            finally:
                run = None
                peer.release()
        timed = {w: r["seconds"] for w, r in ways.items() if "seconds" in r}
        if not timed:
            return {"ways": ways}
        fastest = min(timed, key=timed.get)
        return {"ways": ways, "way": fastest, "seconds": timed[fastest]}

    def write(self, absent):
        """Writes what is known so far, so that it is there whatever comes next."""
        if not self.options.json:
            return
        versions = {p.name: p.version for p in self.options.libraries}
        with open(self.options.json, "w", encoding="utf-8") as file:
            json.dump({"device": self.device, "date": self.date, "size": self.options.size,
                       "copy_bandwidth": self.bandwidth, "peers": versions, "absent": absent,
                       "rows": self.rows, "bars": self.judge(), "skipped": self.skipped,
                       "failures": self.failures}, file, indent=1)

    def print_header(self):
        print(f"\n{'kernel':17} {'graph':9} {'nonzeros':>9} {'step':>11} {'+-':>4} {'GB/s':>7} {'x copy':>6} "
              f"{'GFLOP/s':>8} {'launches':>8} " + " ".join(f"{p.name:>25} {'x':>6}"
                                              for p in self.options.libraries))

    def print_row(self, row):
        cells = []
        spread = (row["most"] - row["least"]) / 2 / row["seconds"] if row["seconds"] > 0 else 0
        for peer in self.options.libraries:
            found = row["peers"].get(peer.name, {})
            if "seconds" in found and row["seconds"] > 0:
                cells.append(f"{found['seconds'] * 1e6:8.1f} us {found['way'][:13]:>13} "
                             f"{found['seconds'] / row['seconds']:6.2f}")
            else:
                cells.append(f"{'-':>25} {'-':>6}")
        print(f"{row['kernel']:17} {row['graph']:9} {row.get('nnz', ''):>9} "
              f"{row['seconds'] * 1e6:8.1f} us {spread:4.0%} {row.get('bandwidth', 0) / 1e9:7.1f} "
              f"{row.get('of_copy', 0):6.2f} {row.get('rate', 0) / 1e9:8.1f} "
              f"{row['launches']:8.1f} " + " ".join(cells), flush=True)

    def judge(self):
        """Which bars hold."""
        verdicts = []
        for family, against, figure, bar in BARS:
            rows = [r for r in self.rows if r["family"] == family]
            wanted = {k.name for k in KERNELS.values() if k.family == family}
            graphs = set(GRAPHS) if any(KERNELS[k].graphs for k in wanted) else {""}
            cells = {(r["kernel"], r["graph"]) for r in rows}
            complete = cells == {(k, g) for k in wanted for g in graphs}
            if figure == "copy":
                ratios = [r.get("of_copy") for r in rows]
            else:
                ratios = []
                for r in rows:
                    times = [r["peers"].get(p, {}).get("seconds") for p in against]
                    # The best of those that are asked for: all have to be there.
                    ratios.append(min(times) / r["seconds"] if None not in times
                                  and r["seconds"] > 0 else None)
            verdict = {"family": family, "against": against or "copy", "figure": figure,
                       "bar": bar, "value": None, "verdict": "not measured"}
            if complete and None not in ratios:
                value = (statistics.geometric_mean(ratios) if figure == "mean" else min(ratios))
                verdict.update(value=value, verdict="holds" if value >= bar else "missed")
            verdicts.append(verdict)
        return verdicts


def print_verdicts(verdicts):
    print("\nWhat is to hold:")
    for v in verdicts:
        against = v["against"] if isinstance(v["against"], str) else " and ".join(v["against"])
        figure = {"least": "least ratio to", "mean": "geometric mean of the ratios to",
                  "copy": "least share of"}[v["figure"]]
        value = "-" if v["value"] is None else f"{v['value']:.2f}"
        print(f"  {v['family']:11} {figure} {against}, at least {v['bar']}: {value}, {v['verdict']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, emulated, emulated:7")
    parser.add_argument("--size", choices=SIZES, help="of what is timed (full; emulated: none)")
    parser.add_argument("--check-size", choices=SIZES, help="of what is checked entirely")
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--peers", default=",".join(peers.LIBRARIES), help="none if empty")
    parser.add_argument("--peer-device", help="where peers compute (as --device)")
    parser.add_argument("--deadline", type=float, default=460, metavar="SECONDS",
                        help="start nothing new after so long (460)")
    parser.add_argument("--seconds", type=float, default=0.25,
                        help="the least that many steps take")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    parser.add_argument("--perturb", metavar="KERNEL",
                        help="change a result before it is checked (KERNEL-part: that of large "
                        "data): has to fail")
    options = parser.parse_args()
    emulated = options.device.startswith("emulated")
    options.check_size = options.check_size or ("tiny" if emulated else "small")
    if options.size is None and not emulated:
        options.size = "full"
    options.kernels, options.graphs = options.kernels.split(","), options.graphs.split(",")
    for given, known in ((options.kernels, KERNELS), (options.graphs, GRAPHS)):
        for name in given:
            if name not in known:
                parser.error(f"there is no '{name}'; there are " + ", ".join(known))
    if options.perturb and options.perturb.removesuffix("-part") not in options.kernels:
        parser.error(f"'{options.perturb}' is not measured")

    try:
        bench = Bench(options)
        info = bench.runtime.device_info()
    except (Failure, OSError) as failure:
        sys.exit(f"measure.py: error: {failure}")
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    device = (f"{info.name.decode()}, compute capability {info.compute_major}."
              f"{info.compute_minor}, {info.multiprocessors} multiprocessors, driver "
              f"{info.driver_version}")
    bench.device, bench.date = device, date
    print(f"{device}\n{date}, sizes: {options.size or 'none is timed'}")
    if emulated:
        print("emulated: times mean nothing")

    cells = [(KERNELS[k], g) for k in options.kernels
             for g in (options.graphs if KERNELS[k].graphs else [""])]
    right = set()
    for kernel, graph in cells:
        if bench.left() < 0:
            bench.skipped.append(f"{kernel.name} {graph}".strip() + ": check")
        elif bench.is_right(kernel, graph):
            right.add((kernel.name, graph))

    absent = {}
    if options.size:
        options.libraries, absent = peers.find(
            [p for p in options.peers.split(",") if p],
            options.peer_device or ("cpu" if emulated else "cuda"))
        for name, why in absent.items():
            print(f"not present: {name} ({why})")
        bench.print_header()
        for kernel, graph in cells:
            if (kernel.name, graph) not in right:
                continue
            if bench.left() < 0:
                bench.skipped.append(f"{kernel.name} {graph}".strip())
                continue
            bench.measure(kernel, graph)
            bench.write(absent)
        verdicts = bench.judge()
        if not emulated:
            print_verdicts(verdicts)
            if bench.bandwidth:
                print(f"Bandwidth of a copy, read and written: {bench.bandwidth / 1e9:.0f} GB/s")
        bench.write(absent)
    for what in bench.skipped:
        print(f"skipped for lack of time: {what}")
    print(f"{len(right)} of {len(cells)} right, {len(bench.failures)} failures, "
          f"{len(bench.skipped)} skipped, {time.monotonic() - bench.begin:.0f} s")
    if bench.failures or len(right) < len(cells):
        sys.exit(1)


if __name__ == "__main__":
    main()
