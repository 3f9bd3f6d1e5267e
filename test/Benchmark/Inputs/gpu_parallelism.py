"""Whether kernels have work for a GPU when the data is large: run in the folder of the
bundle, gpu_parallelism.py EXCEPTIONS [KERNEL...].

Of each program one step is counted on the emulator for two sizes. Blocks and requests
of a launch, which are sums of terms that are constant or grow with the size, are
continued from there to 8192 rows. A launch with fewer than 32 blocks is serial there;
more than 5 % of the requests of a step in serial launches are too many. EXCEPTIONS
lists the kernels that have more, with the most that they may have: a share that rises
and a new one are errors, and so is one that is no longer too large.
"""

import argparse
import os
import sys

sys.path.insert(0, os.getcwd())
from bench import Bench  # noqa: E402
from kernels import KERNELS  # noqa: E402

WANTED, LEAST_BLOCKS, MOST = 8192, 32, 5.0
SCALES = 8, 9


def size_of(scale):
    rows = 1 << scale
    return {"vector_scale": scale, "matrix_scale": scale, "attention_scale": scale, "degree": 4,
            "masked": rows, "table": 4 * rows, "batch": rows, "gcn_scale": scale,
            "gcn_degree": 3, "features": 16, "copy": 32 * rows, "product": rows // 2}


def continued(small, large):
    """The number for the wanted size, of those for two sizes; what the smaller one does
    not have is taken for proportional."""
    first, second = (1 << scale for scale in SCALES)
    if small is None:
        small = large * first / second
    return small + (large - small) * (WANTED - first) / (second - first)


def launches_of(bench, kernel, scale):
    graph = "rmat" if kernel.graphs else ""
    data = kernel.make(size_of(scale), graph, kernel.generator(graph))
    return bench.count(kernel, data)["launches"]


def by_name(launches):
    """Launches by their kernels, and which launch of it each is."""
    found = {}
    for launch in launches:
        times = sum(name == launch["kernel"] for name, _ in found)
        found[launch["kernel"], times] = (launch["blocks"], launch["counted"]["global_requests"])
    return found


def share_of(small, large):
    """The share of the requests, in percent, that serial launches have at the wanted
    size, and these launches."""
    before = by_name(small)
    serial = total = 0
    names = []
    for key, now in by_name(large).items():
        blocks, requests = (continued(*pair) for pair in zip(before.get(key, (None, None)), now))
        total += requests
        if blocks < LEAST_BLOCKS:
            serial += requests
            names.append(f"{key[0]} ({blocks:.0f} blocks, {requests:.0f} requests)")
    return 100 * serial / max(total, 1), names


def main():
    exceptions = {}
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            if words := line.split("#")[0].split():
                exceptions[words[0]] = float(words[1])
    options = argparse.Namespace(device="emulated", peer_device="cpu", count="h100",
                                 perturb=None, size=None)
    bench = Bench(options, lambda *message: None)
    wrong = 0
    for name in sys.argv[2:] or KERNELS:
        kernel = KERNELS[name]
        share, names = share_of(*(launches_of(bench, kernel, scale) for scale in SCALES))
        allowed = exceptions.get(name, MOST)
        verdict = "right"
        if share > allowed:
            verdict = f"error: more than {allowed:.0f} %"
        elif name in exceptions and share <= MOST:
            verdict = "error: is no exception any more"
        wrong += verdict != "right"
        print(f"{name}: {share:.1f} % of the requests at {WANTED} rows are in launches with "
              f"fewer than {LEAST_BLOCKS} blocks: {verdict}", flush=True)
        for launch in names:
            print(f"  {launch}")
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
