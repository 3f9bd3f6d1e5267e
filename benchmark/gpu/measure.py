#!/usr/bin/env python3
"""Measures compiled programs on a GPU, and checks what they compute.

Each kernel is compared with a reference in f64: all of it on small data, a part
of it on the data that is timed. A step is timed as the difference between
many and few steps of one call, so that what an entry does once (copies,
checks) does not count. Peers that can be imported are given the same data and
checked in the same way. Another process (bench.py) does this; here is what it
is asked for, and what becomes of its answers. See README.md.
"""

import argparse
import collections
import contextlib
import datetime
import json
import math
import multiprocessing
import os
import signal
import statistics
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers  # noqa: E402
from bench import work  # noqa: E402
from kernels import GRAPHS, KERNELS, SIZES  # noqa: E402

# Compiles anew for each shape, and no bar asks for it: behind everything else.
LAST = ("JAX",)
# What is under way at the deadline gets so many seconds more.
GRACE = 15

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


def name_of(kernel, graph):
    return f"{kernel} {graph}".strip()


class Report:
    """What is known so far: printed, and written, as soon as it is."""

    def __init__(self, options, count):
        self.options, self.count = options, count
        self.begin = time.monotonic()
        self.date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        self.device = self.bandwidth = None
        self.counted = []  # per kernel and graph, by --count
        self.right, self.rows, self.failures, self.skipped = set(), [], [], []
        self.present, self.absent = {}, {}
        self.way = None  # of a peer, while it is measured

    def left(self):
        return self.options.deadline - (time.monotonic() - self.begin)

    def fail(self, what, why):
        self.failures.append(f"{what}: {why}")
        print(f"measure.py: error: {what}: {why}", file=sys.stderr, flush=True)

    def skip(self, what, kernel, graph):
        self.skipped.append(name_of(kernel, graph) + ("" if what == "time" else f": {what}"))

    def row(self, kernel, graph):
        return next((r for r in self.rows if (r["kernel"], r["graph"]) == (kernel, graph)), None)

    def is_wanted(self, what, kernel, graph):
        """Only what is right is timed, and compared only what was."""
        if what == "check":
            return True
        if what == "time":
            return (kernel, graph) in self.right
        return what not in self.absent and self.row(kernel, graph) is not None

    def take(self, item, kind, *said):
        """Takes a message on what was asked for."""
        what, kernel, graph = item
        if kind == "right":
            self.right.add((kernel, graph))
            print(f"right: {name_of(kernel, graph)}, {said[0]} numbers, error {said[1]:.1e}")
        elif kind == "fail" and what in peers.LIBRARIES:
            if what in self.present:
                self.compare(item, self.way or "all", {"error": said[0]})
            else:  # it was being loaded
                self.take(item, "absent", what, said[0])
        elif kind == "fail":
            self.fail(name_of(kernel, graph), said[0])
        elif kind == "copied":
            self.bandwidth = said[0]
        elif kind == "counted":
            self.counted.append({"kernel": kernel, "graph": graph, **said[0]})
            print_counts(name_of(kernel, graph), said[0])
        elif kind == "row":
            self.add(kernel, graph, said[0])
        elif kind == "present":
            self.present[said[0]] = said[1]
        elif kind == "absent":
            self.absent[said[0]] = said[1]
            print(f"not present: {said[0]} ({said[1]})")
        elif kind == "way":
            self.way = said[0]
        elif kind == "compared":
            self.compare(item, *said)
        elif kind == "done" and what in peers.LIBRARIES and not said[0]:
            found = self.row(kernel, graph)["peers"].get(what)
            if found:
                found["complete"] = True

    def add(self, kernel, graph, measured):
        if not self.rows:
            print(f"\n{'kernel':17} {'graph':9} {'nonzeros':>9} {'step':>11} {'+-':>4} {'GB/s':>7} "
                  f"{'x copy':>6} {'GFLOP/s':>8} {'launches':>8}")
        row = {"kernel": kernel, "family": KERNELS[kernel].family, "graph": graph, "peers": {},
               **measured}
        seconds, spread = row["seconds"], 0
        if seconds > 0:
            row.update(bandwidth=row["bytes"] / seconds, rate=row["flops"] / seconds)
            spread = (row["most"] - row["least"]) / 2 / seconds
            if row["family"] == "copy":
                self.bandwidth = max(row["bandwidth"], self.bandwidth or 0)
            if self.bandwidth:
                row["of_copy"] = row["bandwidth"] / self.bandwidth
        self.rows.append(row)
        print(f"{kernel:17} {graph:9} {row.get('nnz', ''):>9} {seconds * 1e6:8.1f} us "
              f"{spread:4.0%} {row.get('bandwidth', 0) / 1e9:7.1f} {row.get('of_copy', 0):6.2f} "
              f"{row.get('rate', 0) / 1e9:8.1f} {row['launches']:8.1f}")

    def compare(self, item, way, figures):
        """Notes a way of a peer, of which the fastest counts."""
        peer, kernel, graph = item
        row = self.row(kernel, graph)
        found = row["peers"].setdefault(peer, {"ways": {}})
        found["ways"][way] = figures
        text = f"  {kernel:17} {graph:9} {peer:>8}, {way:13}"
        if "error" in figures:
            print(f"{text} is not measured: {figures['error']}")
            return
        seconds = figures["seconds"]
        if seconds < found.get("seconds", math.inf):
            found.update(way=way, seconds=seconds)
        ratio = f"{seconds / row['seconds']:.2f} times ours" if row["seconds"] > 0 else ""
        print(f"{text} {seconds * 1e6:10.1f} us, {ratio}")

    def write(self):
        """Writes what is known, so that it is there whatever comes next."""
        if not self.options.json:
            return
        # Whoever ends this in between leaves the file of before.
        with open(f"{self.options.json}.new", "w", encoding="utf-8") as file:
            json.dump({"device": self.device, "date": self.date, "size": self.options.size,
                       "copy_bandwidth": self.bandwidth, "peers": self.present,
                       "absent": self.absent, "right": sorted(self.right), "rows": self.rows,
                       "counted": self.counted, "bars": self.judge(), "skipped": self.skipped,
                       "failures": self.failures}, file, indent=1)
        os.replace(f"{self.options.json}.new", self.options.json)

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
                    # Of a peer that was cut off, the fastest way may be one that is left.
                    found = [r["peers"].get(p, {}) for p in against]
                    times = [f.get("seconds") if f.get("complete") else None for f in found]
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

    def end(self):
        """Prints what it comes to; whether all was checked and right."""
        if self.options.size and not self.options.device.startswith("emulated"):
            print_verdicts(self.judge())
            if self.bandwidth:
                print(f"Bandwidth of a copy, read and written: {self.bandwidth / 1e9:.0f} GB/s")
        for what in self.skipped:
            print(f"skipped for lack of time: {what}")
        print(f"{len(self.right)} of {self.count} right, {len(self.failures)} failures, "
              f"{len(self.skipped)} skipped, {time.monotonic() - self.begin:.0f} s")
        return not self.failures and len(self.right) == self.count


def print_verdicts(verdicts):
    print("\nWhat is to hold:")
    for v in verdicts:
        against = v["against"] if isinstance(v["against"], str) else " and ".join(v["against"])
        figure = {"least": "least ratio to", "mean": "geometric mean of the ratios to",
                  "copy": "least share of"}[v["figure"]]
        value = "-" if v["value"] is None else f"{v['value']:.2f}"
        print(f"  {v['family']:11} {figure} {against}, at least {v['bar']}: {value}, {v['verdict']}")


def print_counts(name, counts):
    """A line for each launch of a step. Nothing of this is measured."""
    machine = counts["machine"] + (f"/{counts['machine_divisor']}"
                                   if counts["machine_divisor"] > 1 else "")
    seconds = sum(launch["model"]["seconds"] for launch in counts["launches"])
    print(f"counted: {name}, {len(counts['launches'])} launches a step, model ({machine}) "
          f"{seconds * 1e6:.1f} us")
    for launch in counts["launches"]:
        counted, model = launch["counted"], launch["model"]
        dram = model["dram_read_sectors"] + model["dram_write_sectors"]
        print(f"  {launch['kernel']:24} {launch['blocks']:6} blocks {counted['global_requests']:8} "
              f"requests {counted['global_sectors']:8} sectors {dram:8} of DRAM "
              f"{counted['shared_conflicts']:6} conflicts {counted.get('warp_instructions', 0):9} "
              f"instructions, model {model['seconds'] * 1e6:7.2f} us, bound by {model['bound']}")


class NoDevice(Exception):
    """Why a process has none."""


class Worker:
    """A process that measures, and says which device it does that on."""

    def __init__(self, options):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, options), daemon=True)
        self.process.start()
        theirs.close()
        kind, self.device = self.receive(options.patience)
        if kind != "device":
            self.end()
            raise NoDevice(self.device)

    def ask(self, item):
        with contextlib.suppress(OSError):  # receive() says why
            self.pipe.send(item)

    def receive(self, seconds):
        """Its next message; `died` if it is gone, `hangs` if it sends none so long."""
        try:
            if not self.pipe.poll(seconds):
                return "hangs", f"there was no answer for {seconds:.0f} s"
            return self.pipe.recv()
        except (EOFError, OSError):
            self.process.join(5)
            code = self.process.exitcode or 0
            return "died", "the process ended" + (
                f" by {signal.Signals(-code).name}" if code < 0 else f" with status {code}")

    def end(self):
        # It has nothing to tidy up that the driver does not.
        self.process.kill()
        self.process.join(5)


def measure(report, queue):
    """Has a process measure what is queued, and another one when it was lost."""
    options, worker = report.options, None
    while queue:
        item = queue.popleft()
        if not report.is_wanted(*item):
            continue
        if report.left() < 0:
            report.skip(*item)
            continue
        if not worker:
            try:
                worker = Worker(options)
            except NoDevice as error:
                report.fail("the device", str(error))
                return
            if not report.device:
                report.device = worker.device
                print(f"{worker.device}\n{report.date}, sizes: "
                      f"{options.size or 'none is timed'}")
                if options.device.startswith("emulated"):
                    print("emulated: times mean nothing")
        worker.ask(item)
        kind = report.way = None
        while kind not in ("done", "died", "hangs"):
            late = report.left() + GRACE
            kind, *said = worker.receive(max(0, min(options.patience, late)))
            if kind == "hangs" and late < options.patience:
                report.skip(*item)
            elif kind in ("died", "hangs"):
                report.take(item, "fail", *said)
            else:
                report.take(item, kind, *said)
        if kind != "done" or said[0]:
            worker.end()
            worker = None
        report.write()
    if worker:
        worker.end()


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
                        help="start nothing new after so long (460), and end what still runs "
                        f"{GRACE} later")
    parser.add_argument("--patience", type=float, default=90, metavar="SECONDS",
                        help="wait so long for a kernel or a peer (90)")
    parser.add_argument("--seconds", type=float, default=0.25,
                        help="the least that many steps take")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--count", nargs="?", const="h100", metavar="MACHINE",
                        help="on --device=emulated, count what a step asks of a GPU, and "
                        "model its time: h100 (default), h200, a100, rtx3090, rtx4090, or "
                        "a part of one, h100/16")
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    parser.add_argument("--perturb", metavar="KERNEL",
                        help="change a result before it is checked (KERNEL-part: that of large "
                        "data): has to fail")
    options = parser.parse_args()
    emulated = options.device.startswith("emulated")
    if options.count and not emulated:
        parser.error("--count is of --device=emulated alone")
    options.check_size = options.check_size or ("tiny" if emulated else "small")
    options.peer_device = options.peer_device or ("cpu" if emulated else options.device)
    if options.size is None and not emulated:
        options.size = "full"
    for name, known in (("kernels", KERNELS), ("graphs", GRAPHS), ("peers", peers.LIBRARIES)):
        given = [g for g in getattr(options, name).split(",") if g]
        setattr(options, name, given)
        for one in given:
            if one not in known:
                parser.error(f"there is no '{one}'; there are " + ", ".join(known))
    if options.perturb and options.perturb.removesuffix("-part") not in options.kernels:
        parser.error(f"'{options.perturb}' is not measured")

    cells = [(k, g) for k in options.kernels
             for g in (options.graphs if KERNELS[k].graphs else [""])]

    def compared(wanted):
        return {cell: [p for p in options.peers if (p in LAST) == wanted
                       and KERNELS[cell[0]].family in peers.LIBRARIES[p].families]
                for cell in cells}

    queue = collections.deque(("check", *cell) for cell in cells)
    if options.size:
        first, last = compared(False), compared(True)
        queue.extend((what, *cell) for cell in cells for what in ("time", *first[cell]))
        queue.extend((what, *cell) for cell in cells for what in last[cell])
    sys.stdout.reconfigure(line_buffering=True)
    report = Report(options, len(cells))
    try:
        report.write()
    except OSError as error:
        sys.exit(f"measure.py: error: {error}")
    measure(report, queue)
    report.write()
    if not report.end():
        sys.exit(1)


if __name__ == "__main__":
    main()
