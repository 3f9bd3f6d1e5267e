"""Runs benchmark/gpu with a bench that faults as a GPU, a kernel or a library may:
it ends, it hangs, the device is lost. Run in the folder of the bundle, with the
arguments of measure.py."""

import os
import sys
import time

sys.path.insert(0, os.getcwd())
import bench  # noqa: E402
import measure  # noqa: E402
import peers  # noqa: E402


class Faults(bench.Bench):
    lost = False

    def demand_device(self):
        if self.lost:
            raise MemoryError("the device is lost")

    def check(self, kernel, graph):
        self.demand_device()
        if kernel.name == "spmv":
            os.abort()
        super().check(kernel, graph)
        # Right, but the next one would not be.
        self.lost = kernel.name == "sddmm64"

    def time(self, kernel, graph):
        self.demand_device()
        if kernel.name == "spmm32":
            time.sleep(1000)
        if kernel.name == "masked_mean":
            raise MemoryError("no room")
        super().time(kernel, graph)

    def is_lost(self):
        return self.lost


class Crashing:
    name, version, families = "JAX", "1", ("copy",)

    def __init__(self, device):
        pass

    def ways(self, kernel, data):
        def fine():
            return peers.Run((data["x"],), lambda x: (-x,), ("x",), lambda x: x)
        return {"fine": fine, "crash": os.abort}

    def seconds(self, function):
        begin = time.perf_counter()
        function()
        return time.perf_counter() - begin

    def release(self):
        pass


class Unloadable:
    name, version, families = "PyG", "1", ("copy", "sddmm")

    def __init__(self, device):
        os.abort()


PEERS = {"JAX": Crashing, "PyG": Unloadable}


def work(pipe, options):
    bench.Bench = Faults
    peers.LIBRARIES.update(PEERS)
    bench.work(pipe, options)


if __name__ == "__main__":
    measure.work = work
    peers.LIBRARIES.update(PEERS)
    measure.main()
