"""Checks and times kernels and peers, in a process of its own.

A kernel that faults takes the GPU's context with it, one that hangs its process,
and a library may crash: measure.py starts another process then, which goes on
with what is left. What is asked for is a check, a time, or a peer, each of a
kernel on a graph.
"""

import contextlib
import gc
import os
import statistics

import numpy as np

import peers
from compiled import Failure, Function, Runtime, Sparse
from kernels import KERNELS, SIZES, worst_error

# Not beside the scripts: Python takes copy.so for a module.
LIBRARIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")
FEW, MOST = 2, 20000
CHECKED_STEPS = 3


class Wrong(Exception):
    """What is wrong with a result."""


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


def step_of(two, one, length):
    """The launches of the second of two steps: one step launches what two do, less
    those. What comes before and after the steps stays where it is."""
    names = [launch["kernel"] for launch in one]
    both = [launch["kernel"] for launch in two]
    for first in range(len(two) - length, -1, -1):
        if both[:first] + both[first + length:] == names:
            return two[first:first + length]
    raise Wrong("the launches of a step differ from step to step")


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


def say(error):
    """An exception in a line."""
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"


class Bench:
    """`tell` takes the kind of a message and what it says."""

    def __init__(self, options, tell):
        self.options, self.tell = options, tell
        self.runtime = Runtime(LIBRARIES)
        self.runtime.set_device(options.device)
        if options.count:
            self.runtime.count(options.count)
        self.functions, self.libraries = {}, {}
        self.cell, self.large = None, None
        # Before anything can be wrong with it.
        self.drivers = [peers.driver_of(d) for d in {options.device, options.peer_device}
                        if d.startswith("cuda")]

    def device(self):
        info = self.runtime.device_info()
        return (f"{info.name.decode()}, compute capability {info.compute_major}."
                f"{info.compute_minor}, {info.multiprocessors} multiprocessors, driver "
                f"{info.driver_version}")

    def function(self, kernel):
        if kernel.program not in self.functions:
            self.functions[kernel.program] = Function(
                self.runtime, os.path.join(LIBRARIES, f"{kernel.program}.so"))
        return self.functions[kernel.program]

    def data(self, kernel, graph):
        """The data that is timed, and a part of what a step makes of it."""
        if self.cell != (kernel.name, graph):
            self.cell, self.large = None, None
            generator = kernel.generator(graph)
            data = kernel.make(SIZES[self.options.size], graph, generator)
            self.large = data, kernel.expected_part(data, generator)
            self.cell = kernel.name, graph
        return self.large

    def do(self, what, name, graph):
        """Does what is asked for; raises what went wrong with our kernel."""
        kernel = KERNELS[name]
        if what == "check":
            self.check(kernel, graph)
        elif what == "time":
            try:
                self.time(kernel, graph)
            finally:
                with contextlib.suppress(Failure):  # which would hide the first
                    self.runtime.trim()
        else:
            self.compare(what, kernel, graph)

    def check(self, kernel, graph):
        """Whether all numbers are right on small data."""
        generator = kernel.generator(graph)
        data = kernel.make(SIZES[self.options.check_size], graph, generator)
        expected = kernel.expected(data, CHECKED_STEPS)
        if self.options.count:
            self.tell("counted", self.count(kernel, data))
        _, results = self.function(kernel)({**data, "steps": CHECKED_STEPS})
        found = perturbed(values_of(results), self.options.perturb == kernel.name)
        errors = errors_of(found, expected)
        why = complaint(errors, kernel.tolerance)
        if why:
            raise Wrong(f"wrong: {why}")
        self.tell("right", sum(np.size(v) for v in expected.values()), max(errors.values()))

    def count(self, kernel, data):
        """What the launches of one step ask of a machine: of the last of two, as
        what an entry does once is no part of a step."""
        launches = []
        for steps in (1, 2):
            self.runtime.count(self.options.count)
            self.function(kernel)({**data, "steps": steps})
            launches.append(self.runtime.counts())
        step = len(launches[1]["launches"]) - len(launches[0]["launches"])
        return {**launches[1], "launches": step_of(launches[1]["launches"],
                                                   launches[0]["launches"], step)}

    def time_steps(self, call):
        """The seconds of a step: its median, least and most; and what the
        runtime counted for one."""
        counters = self.runtime.counters
        call(FEW)
        few = min(call(FEW), call(FEW))
        # What a call does once varies by some hundredths: steps have to take longer.
        duration = max(self.options.seconds, 2 * few)
        count = 8
        while True:
            more = call(FEW + count) - few
            if more >= duration / 8:  # unless something else took so long
                more = min(more, call(FEW + count) - few)
            if more >= duration / 8 or count == MOST:
                break
            count = min(MOST, 8 * count)
        count = int(min(MOST, max(8, count * duration / max(more, 1e-9))))
        times = []
        for _ in range(self.options.repeats):
            before = counters()
            few = call(FEW)
            between = counters()
            times.append((call(FEW + count) - few) / count)
            after = counters()
        per_step = {
            name: ((getattr(after, name) - getattr(between, name))
                   - (getattr(between, name) - getattr(before, name))) / count
            for name in ("launches", "waits", "allocations", "bytes_copied_on_device")}
        return {"seconds": statistics.median(times), "least": min(times), "most": max(times),
                **per_step}

    def time(self, kernel, graph):
        data, expected = self.data(kernel, graph)
        moved = kernel.bytes(data)
        if kernel.family == "copy" and self.options.device.startswith("cuda"):
            with contextlib.suppress(OSError):  # then ours alone counts
                self.tell("copied", peers.copy_bandwidth(moved // 2, self.options.device))
        function = self.function(kernel)
        _, results = function({**data, "steps": 1})
        found = perturbed(values_of(results), self.options.perturb == f"{kernel.name}-part")
        why = complaint(errors_of_part(found, expected), kernel.tolerance)
        del results, found
        if why:
            raise Wrong(f"wrong on large data: {why}")
        row = self.time_steps(
            lambda steps: function({**data, "steps": steps}, keep=False)[0])
        if not row["launches"] >= 1:
            raise Wrong("a step launches nothing: it was hoisted or removed")
        row.update(bytes=moved, flops=kernel.flops(data))
        if "matrix" in data:
            row.update(rows=data["matrix"].shape[0], nnz=data["matrix"].nnz)
        self.tell("row", row)

    def library(self, name):
        """A peer, or nothing if it cannot be loaded."""
        if name not in self.libraries:
            self.libraries[name] = None
            try:
                self.libraries[name] = peers.LIBRARIES[name](self.options.peer_device)
                self.tell("present", name, self.libraries[name].version)
            except Exception as error:  # whatever a library of others raises
                self.tell("absent", name, say(error))
        return self.libraries[name]

    def compare(self, name, kernel, graph):
        """The seconds of a step of each way in which a library does it."""
        peer = self.library(name)
        if not peer:
            return
        data, expected = self.data(kernel, graph)
        for way, make in peer.ways(kernel, data).items():
            self.tell("way", way)
            run = None
            try:
                run = make()
                run.steps(1)
                why = complaint(errors_of_part(run.results(), expected), 10 * kernel.tolerance)
                if why:
                    raise Wrong(f"another result: {why}")
                run.steps(3)
                once = max(peer.seconds(lambda: run.steps(3)) / 3, 1e-7)
                count = int(min(5000, max(5, self.options.seconds / once)))
                times = [peer.seconds(lambda: run.steps(count)) / count
                         for _ in range(self.options.repeats)]
                figures = {"seconds": statistics.median(times)}
            except Exception as error:
                figures = {"error": say(error)}
            self.tell("compared", way, figures)
            run = None
            gc.collect()  # closures that hold each other hold memory of the GPU
            with contextlib.suppress(Exception):  # which is_lost() sees, too
                peer.release()

    def is_lost(self):
        """Whether a GPU no longer answers this process, after a fault."""
        try:
            for driver in self.drivers:
                driver.synchronize()
        except OSError:
            return True
        return False


def work(pipe, options):
    """Does what the pipe asks for until it is closed, and answers there."""
    def tell(*message):
        pipe.send(message)

    try:
        bench = Bench(options, tell)
        tell("device", bench.device())
    except (Failure, OSError) as failure:
        tell("no device", str(failure))
        return
    with contextlib.suppress(EOFError):
        while True:
            item = pipe.recv()
            try:
                bench.do(*item)
            except (Failure, Wrong) as failure:
                tell("fail", str(failure))
            except Exception as error:  # a lack of memory, or of a file
                tell("fail", say(error))
            tell("done", bench.is_lost())
