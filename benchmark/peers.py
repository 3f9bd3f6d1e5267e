#!/usr/bin/env python3
"""Compares compiled programs with PyTorch and JAX, on one core.

A case is forward and backward: a masked operation over the rows of a matrix, or
a step of a small network. PyTorch is asked in several ways and the fastest
counts. Everything is pinned to one core and timed in turn, in one run; what is
not installed is not measured. Before anything is timed, all have to agree. See
README.md.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

# One thread: to be said before the libraries start.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + (
    " --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np  # noqa: E402

CASES = ("mean", "max", "logsumexp", "softmax", "mlp")
HERE = os.path.dirname(os.path.abspath(__file__))
RATE = np.float32(0.01)


def masked_data(size, density):
    generator = np.random.default_rng(20240607)
    x = generator.standard_normal((size, size), dtype=np.float32)
    dy = generator.standard_normal((size, size), dtype=np.float32)
    mask = generator.random((size, size), dtype=np.float32) < density
    mask[:, 0] = True  # an empty row is NaN for some and not for others
    return x, mask, dy


def network_data(size):
    """A batch of `size` through layers that are 4, 4, 4, 4 and 0.125 of it wide."""
    generator = np.random.default_rng(20240607)
    widths = [4 * size] * 4 + [max(1, size // 8)]
    arrays = [generator.standard_normal((size, widths[0]), dtype=np.float32),
              generator.standard_normal((size, widths[-1]), dtype=np.float32)]
    for n, m in zip(widths, widths[1:]):
        w = generator.standard_normal((n, m), dtype=np.float32)
        arrays += [w * np.float32(np.sqrt(2 / n)), np.zeros(m, np.float32)]
    return tuple(arrays)


class Program:
    """The compiled program, by sparse-runner: a process for a round of calls."""

    def __init__(self, runner, case, arrays, folder):
        self.command = [runner, os.path.join(HERE, "programs", f"{case}.mlir"), "--entry=main",
                        "--threads=1", "--report=json"]
        for index, array in enumerate(arrays):
            path = os.path.join(folder, f"{case}{index}.npy")
            np.save(path, array)
            self.command.append(f"--arg=arg{index}={path}")
        self.results = 9 if case == "mlp" else 2
        self.folder = folder

    def run(self, calls, *more):
        paths = [os.path.join(self.folder, f"result{i}.npy") for i in range(self.results)]
        save = [f"--result=result{i}={path}" for i, path in enumerate(paths)]
        done = subprocess.run([*self.command, f"--repeat={calls}", *save, *more],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"peers.py: error: {done.stderr.strip()}")
        return json.loads(done.stderr.strip().splitlines()[-1]), paths

    def values(self):
        return [np.load(path) for path in self.run(1)[1]]

    def seconds(self, calls):
        return self.run(calls)[0]["call_seconds_median"]


class Peer:
    """A function of nothing that returns a list of arrays when it is done."""

    def __init__(self, function, to_numpy):
        self.function, self.to_numpy = function, to_numpy

    def values(self):
        return [self.to_numpy(v) for v in self.function()]

    def seconds(self, calls):
        times = []
        for _ in range(calls):
            begin = time.perf_counter()
            self.function()
            times.append(time.perf_counter() - begin)
        return statistics.median(times)


def torch_peers(case, arrays):
    """Each way in which PyTorch computes the case, by name."""
    import torch
    import torch.masked

    torch.set_num_threads(1)
    tensors = [torch.from_numpy(a) for a in arrays]

    def peer(function):
        return Peer(function, lambda v: v.detach().numpy())

    if case == "mlp":
        x, target, *weights = tensors
        weights = [w.clone().requires_grad_() for w in weights]

        def loss(*weights):
            h = x
            for layer in range(4):
                h = torch.addmm(weights[2 * layer + 1], h, weights[2 * layer])
                if layer < 3:
                    h = torch.relu(h)
            return ((h - target)**2).mean()

        def step(loss):
            def run():
                value = loss(*weights)
                gradients = torch.autograd.grad(value, weights)
                with torch.no_grad():
                    return [value, *(w - float(RATE) * g for w, g in zip(weights, gradients))]
            return run

        return {"eager": peer(step(loss)), "compile": peer(step(torch.compile(loss)))}

    x, mask, dy = tensors
    x = x.clone().requires_grad_()
    infinity = torch.tensor(float("-inf"))

    def filled(x):
        return torch.where(mask, x, infinity)

    def weighted(x):
        """Exponentials of what is selected, by multiplication."""
        largest = x.detach().amax(1, keepdim=True)
        return torch.exp(x - largest) * mask, largest

    ways = {
        "mean": {
            "where": lambda x: torch.where(mask, x, 0.0).sum(1) / mask.sum(1).clamp(min=1),
            "multiply": lambda x: (x * mask).sum(1) / mask.sum(1).clamp(min=1),
            "masked": lambda x: torch.masked.mean(x, dim=1, mask=mask),
        },
        "max": {
            "where": lambda x: filled(x).amax(1),
            "masked": lambda x: torch.masked.amax(x, dim=1, mask=mask),
        },
        "logsumexp": {
            "where": lambda x: torch.logsumexp(filled(x), 1),
            "multiply": lambda x: torch.log(weighted(x)[0].sum(1)) + weighted(x)[1][:, 0],
            "masked": lambda x: torch.masked.logsumexp(x, dim=1, mask=mask),
        },
        "softmax": {
            "where": lambda x: torch.softmax(filled(x), 1),
            "multiply": lambda x: torch.nn.functional.normalize(weighted(x)[0], p=1, dim=1),
            "masked": lambda x: torch.masked.softmax(x, dim=1, mask=mask),
        },
    }[case]
    ways["compile"] = torch.compile(ways["where"])

    def run(way):
        def forward_and_backward():
            y = way(x)
            if case == "softmax":
                return [y, *torch.autograd.grad(y, x, dy)]
            loss = y.sum()
            return [loss, *torch.autograd.grad(loss, x)]
        return peer(forward_and_backward)

    return {name: run(way) for name, way in ways.items()}


def jax_peers(case, arrays):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_platforms", "cpu")
    arrays = [jnp.asarray(a) for a in arrays]

    def compiled(function):
        jitted = jax.jit(function)
        return {"jit": Peer(lambda: jax.block_until_ready(jitted(*arrays)), np.asarray)}

    if case == "mlp":
        def loss(weights, x, target):
            h = x
            for layer in range(4):
                h = h @ weights[2 * layer] + weights[2 * layer + 1]
                if layer < 3:
                    h = jax.nn.relu(h)
            return jnp.mean((h - target)**2)

        def step(x, target, *weights):
            value, gradients = jax.value_and_grad(loss)(weights, x, target)
            return [value, *(w - RATE * g for w, g in zip(weights, gradients))]

        return compiled(step)

    def reduction(x, mask):
        if case == "mean":
            return jnp.where(mask, x, 0).sum(1) / jnp.maximum(mask.sum(1), 1)
        if case == "max":
            return jnp.where(mask, x, -jnp.inf).max(1)
        if case == "logsumexp":
            return jax.nn.logsumexp(jnp.where(mask, x, -jnp.inf), 1)
        return jax.nn.softmax(jnp.where(mask, x, -jnp.inf), 1)

    def forward_and_backward(x, mask, dy):
        if case == "softmax":
            y, pull = jax.vjp(lambda x: reduction(x, mask), x)
            return [y, *pull(dy)]
        return list(jax.value_and_grad(lambda x: reduction(x, mask).sum())(x))

    return compiled(forward_and_backward)


def find_peers(case, arrays, absent):
    """The ways of each library that is there; says once which is not."""
    peers = {}
    for library, make in (("PyTorch", torch_peers), ("JAX", jax_peers)):
        peers[library] = {}
        if library in absent:
            continue
        try:
            peers[library] = make(case, arrays)
        except (ImportError, OSError) as error:
            absent.add(library)
            print(f"peers.py: {library} is not measured: {str(error).splitlines()[0]}",
                  file=sys.stderr)
    return peers


def agree(case, program, peers):
    """All results are the same up to rounding; a way that cannot be run leaves."""
    wanted = program.values()
    for library, ways in peers.items():
        for name in list(ways):
            try:
                found = ways[name].values()
            except Exception as error:  # whatever a compiler of theirs raises
                print(f"peers.py: {library} ({name}) is not measured: {type(error).__name__}: "
                      f"{str(error).splitlines()[0] if str(error) else ''}", file=sys.stderr)
                del ways[name]
                continue
            if len(found) != len(wanted):
                sys.exit(f"peers.py: error: {library} ({name}) gives {len(found)} results")
            for ours, theirs in zip(wanted, found):
                error = np.max(np.abs(ours - theirs) / (1 + np.abs(theirs)), initial=0)
                if not error < 1e-3:
                    sys.exit(f"peers.py: error: {case}: {library} ({name}) differs by {error:.2g}")


def measure(case, density, options, absent):
    arrays = network_data(options.batch) if case == "mlp" else masked_data(options.size, density)
    with tempfile.TemporaryDirectory() as folder:
        # Only softmax reads the cotangent.
        used = arrays[:2] if case in ("mean", "max", "logsumexp") else arrays
        program = Program(options.driver, case, used, folder)
        peers = find_peers(case, arrays, absent)
        agree(case, program, peers)
        timers = {("program", ""): program}
        timers.update({(library, name): way for library, ways in peers.items()
                       for name, way in ways.items()})
        seconds = {key: [] for key in timers}
        for _ in range(options.rounds):
            for key, timer in timers.items():
                seconds[key].append(timer.seconds(options.calls))
    best = {key: min(values) for key, values in seconds.items()}
    row = {"case": case, "density": density, "program": best[("program", "")]}
    for library in peers:
        ways = {name: s for (of, name), s in best.items() if of == library}
        row[library] = {"ways": ways}
        if ways:
            fastest = min(ways, key=ways.get)
            row[library].update(way=fastest, seconds=ways[fastest],
                                speed=ways[fastest] / row["program"])
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", default=os.path.join(HERE, "..", "build", "bin",
                                                         "sparse-runner"),
                        help="the program sparse-runner (default: of build/)")
    parser.add_argument("--size", type=int, default=4096, help="rows and columns of a matrix")
    parser.add_argument("--batch", type=int, default=128,
                        help="rows that a step sees; layers are four times as wide")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=5, help="calls in a round; the median counts")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--densities", default="0.1,1")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--require-masked", type=float, metavar="SPEED",
                        help="fail if a masked program has less than this multiple of a speed")
    parser.add_argument("--require-mlp", type=float, metavar="SPEED", help="the same for the mlp")
    options = parser.parse_args()
    for case in options.cases.split(","):
        if case not in CASES:
            parser.error(f"there is no case '{case}'")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

    if not options.json:
        print(f"{options.size} x {options.size} f32, a batch of {options.batch}, one core, best "
              f"of {options.rounds} medians of {options.calls}")
        print(f"{'case':10} {'density':>7} {'program':>10} {'PyTorch':>21} {'JAX':>16} "
              f"{'x PyTorch':>10} {'x JAX':>6}")
    missed, absent = [], set()
    for case in options.cases.split(","):
        for density in [1.0] if case == "mlp" else map(float, options.densities.split(",")):
            row = measure(case, density, options, absent)
            required = options.require_mlp if case == "mlp" else options.require_masked
            for library in ("PyTorch", "JAX"):
                speed = row[library].get("speed")
                if required is not None and (speed is None or speed < required):
                    missed.append(f"{case} at {density:.0%}: {speed or 0:.2f} x {library}")
            if options.json:
                print(json.dumps(row), flush=True)
                continue
            cells = [f"{row[o]['seconds'] * 1e3:8.2f} ms {row[o]['way']}"
                     if row[o]["ways"] else "not measured" for o in ("PyTorch", "JAX")]
            speeds = [f"{row[o]['speed']:.2f}" if row[o]["ways"] else "-"
                      for o in ("PyTorch", "JAX")]
            print(f"{case:10} {density:7.0%} {row['program'] * 1e3:7.2f} ms {cells[0]:>21} "
                  f"{cells[1]:>16} {speeds[0]:>10} {speeds[1]:>6}", flush=True)
    if missed:
        sys.exit("peers.py: error: slower than required: " + "; ".join(missed))


if __name__ == "__main__":
    main()
