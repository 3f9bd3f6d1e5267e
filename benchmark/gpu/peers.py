"""What the kernels are compared with, where it can be loaded.

A library offers ways to compute a kernel. A way is made with the data of the
kernel, takes steps, and tells its results, which are checked like ours. Matrices
are on the device, and converted or preprocessed, before anything is timed.
"""

import contextlib
import ctypes
import functools
import glob
import os
import sys
import time

import numpy as np


def ordinal_of(device):
    """The number of a device: 1 of cuda:1."""
    return int(device.partition(":")[2] or 0)


class Run:
    """A way: `step` gets the state and returns the next, `names` are those of
    the state's results."""

    def __init__(self, state, step, names, to_numpy):
        self.state, self.step, self.names, self.to_numpy = state, step, names, to_numpy

    def steps(self, count):
        state = self.state
        for _ in range(count):
            state = self.step(*state)
        self.state = state

    def results(self):
        return {n: self.to_numpy(s) for n, s in zip(self.names, self.state) if n}


class PyTorch:
    """torch.sparse, which uses cuSPARSE, and dense operations."""

    name = "PyTorch"
    families = ("copy", "spmv", "spmm", "transposed", "sddmm", "masked", "row_update",
                "attention", "attention_rows", "gcn")

    def __init__(self, device):
        import torch
        self.torch, self.version = torch, torch.__version__
        if device.startswith("cuda") and not torch.cuda.is_available():
            raise ImportError("it finds no GPU")
        self.device = torch.device(device)

    def seconds(self, function):
        if self.device.type != "cuda":
            begin = time.perf_counter()
            function()
            return time.perf_counter() - begin
        cuda = self.torch.cuda
        begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        cuda.synchronize()
        begin.record()
        function()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3

    def release(self):
        if self.device.type == "cuda":
            self.torch.cuda.empty_cache()

    def tensor(self, array):
        return self.torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def csr(self, a, values=None):
        return self.torch.sparse_csr_tensor(
            self.tensor(a.indptr), self.tensor(a.indices),
            self.tensor(a.values if values is None else values), a.shape)

    def run(self, state, step, names):
        def to_numpy(value):
            if value.layout == self.torch.sparse_csr:
                value = value.values()
            return value.detach().cpu().numpy()
        return Run(state, step, names, to_numpy)

    def ways(self, kernel, data):
        return getattr(self, kernel.family)(data)

    def copy(self, data):
        def make():
            return self.run((self.tensor(data["x"]),), lambda x: (-x,), ("x",))
        return {"negative": make}

    def spmv(self, data):
        def make():
            a = self.csr(data["matrix"])
            return self.run((self.tensor(data["x"]),), lambda x: (a @ x,), ("x",))
        return {"csr": make}

    spmm = spmv

    def transposed(self, data):
        def converted():
            at = self.csr(data["matrix"].transposed())
            return self.run((self.tensor(data["x"]),), lambda x: (at @ x,), ("x",))

        def view():
            at = self.csr(data["matrix"]).t()
            return self.run((self.tensor(data["x"]),), lambda x: (at @ x,), ("x",))
        return {"converted": converted, "view": view}

    def sddmm(self, data):
        def make():
            x, yt = self.tensor(data["x"]), self.tensor(data["y"]).t()
            step = lambda v: (self.torch.sparse.sampled_addmm(v, x, yt),)  # noqa: E731
            return self.run((self.csr(data["matrix"]),), step, ("v",))
        return {"sampled_addmm": make}

    def masked(self, data):
        torch, rate = self.torch, data["rate"]

        def mean():
            mask = self.tensor(data["mask"])
            counts = mask.sum(1).clamp(min=1)

            def step(x):
                x = x.detach().requires_grad_()
                means = torch.where(mask, x, 0.0).sum(1) / counts
                gradient, = torch.autograd.grad((means**2).sum(), x)
                return (x - rate * gradient,)
            return self.run((self.tensor(data["x"]),), step, ("x",))

        def softmax():
            mask = self.tensor(data["mask"])

            def step(x, dy):
                x = x.detach().requires_grad_()
                y = torch.softmax(x.masked_fill(~mask, float("-inf")), 1)
                gradient, = torch.autograd.grad(y, x, dy)
                return x - rate * gradient, y.detach()
            return self.run((self.tensor(data["x"]), self.tensor(data["dy"])), step, ("x", "y"))
        return {"where": softmax if "dy" in data else mean}

    def row_update(self, data):
        torch = self.torch

        def make():
            table, m, v = (self.tensor(data[n]).clone() for n in ("table", "m", "v"))
            table.requires_grad_()
            batch, target = self.tensor(data["batch"]), self.tensor(data["target"])
            optimizer = torch.optim.SparseAdam([table], lr=0.02)
            optimizer.state[table] = {"step": 0, "exp_avg": m, "exp_avg_sq": v}
            number = [0]

            def step(table, m, v):
                ids = (batch + number[0] * data["stride"]) % len(table)
                number[0] += 1
                optimizer.zero_grad()
                rows = torch.nn.functional.embedding(ids, table, sparse=True)
                ((rows - target)**2).sum().backward()
                optimizer.step()
                return table, m, v
            return self.run((table, m, v), step, ("table", "m", "v"))
        return {"SparseAdam": make}

    def attention(self, data):
        """Three kernels (sampled product, softmax, product), and theirs back."""
        torch, a, rate = self.torch, data["matrix"], data["rate"]

        def make():
            ones = self.csr(a, np.ones(a.nnz, np.float32))
            zeros = self.csr(a, np.zeros(a.nnz, np.float32))
            rows = self.tensor(a.row_of_entries())
            count, scale = a.shape[0], data["q"].shape[1]**-0.5
            t = a.transposed()
            order = self.tensor(np.argsort(a.indices, kind="stable"))
            tp, ti = self.tensor(t.indptr), self.tensor(t.indices)
            target = self.tensor(data["target"])
            positions, columns = ones.crow_indices(), ones.col_indices()

            def matrix(values):
                return torch.sparse_csr_tensor(positions, columns, values, a.shape)

            def transposed(values):
                return torch.sparse_csr_tensor(tp, ti, values[order], t.shape)

            def sampled(x, y):
                return torch.sparse.sampled_addmm(zeros, x, y.t()).values()

            def sums(values):
                return torch.zeros(count, device=self.device).index_add_(0, rows, values)

            def step(q, k, v):
                scores = scale * sampled(q, k)
                largest = torch.full((count,), float("-inf"), device=self.device)
                largest.scatter_reduce_(0, rows, scores, "amax")
                weights = torch.exp(scores - largest[rows])
                weights = weights / sums(weights)[rows]
                mixed = matrix(weights) @ v
                loss = (mixed * target).sum()
                by_weight = sampled(target, v)
                by_score = scale * weights * (by_weight - sums(weights * by_weight)[rows])
                dv = transposed(weights) @ target
                dq, dk = matrix(by_score) @ k, transposed(by_score) @ q
                step.loss = loss
                return q - rate * dq, k - rate * dk, v - rate * dv
            return self.run(tuple(self.tensor(data[n]) for n in "qkv"), step, ("q", "k", "v"))
        return {"three kernels": make}

    attention_rows = attention

    def gcn_run(self, data, logits):
        """Steps of Adam on the loss of a function from the weights to logits."""
        torch = self.torch
        weights = [self.tensor(data[n]).clone().requires_grad_() for n in ("w1", "w2")]
        optimizer = torch.optim.Adam(weights, lr=0.01)
        chosen = self.tensor(np.flatnonzero(data["selected"]))
        labels = self.tensor(data["labels"].astype(np.int64))[chosen]

        def step(w1, w2):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(logits(w1, w2)[chosen], labels).backward()
            optimizer.step()
            return w1, w2
        return self.run(tuple(weights), step, ("w1", "w2"))

    def gcn(self, data):
        def make():
            n, x = self.csr(data["matrix"]), self.csr(data["features"])
            return self.gcn_run(data, lambda w1, w2: n @ (self.torch.relu(n @ (x @ w1)) @ w2))
        return {"csr": make}


class PyG(PyTorch):
    """PyTorch Geometric: GCNConv without bias, weights of edges given."""

    name = "PyG"
    families = ("gcn",)

    def __init__(self, device):
        super().__init__(device)
        import torch_geometric
        from torch_geometric.nn import GCNConv
        self.version, self.conv = torch_geometric.__version__, GCNConv

    def ways(self, kernel, data):
        torch, n = self.torch, data["matrix"]

        def run(edges, edge_weights, sparse_features):
            conv = self.conv(1, 1, bias=False, normalize=False).to(self.device)
            x = self.csr(data["features"])
            if not sparse_features:
                x = x.to_dense()

            def propagate(h):
                return conv.propagate(edges, x=h, edge_weight=edge_weights)

            # What GCNConv does with its weights: a product, then messages.
            return self.gcn_run(
                data, lambda w1, w2: propagate(torch.relu(propagate(x @ w1)) @ w2))

        def listed(sparse_features):
            edges = np.stack([n.indices, n.row_of_entries()]).astype(np.int64)
            return run(self.tensor(edges), self.tensor(n.values), sparse_features)

        return {
            "edges": lambda: listed(False),
            "edges, sparse": lambda: listed(True),
            "csr": lambda: run(self.csr(n), None, False),
            "csr, sparse": lambda: run(self.csr(n), None, True)}


class JAX:
    """jax.experimental.sparse, steps in one compiled loop."""

    name = "JAX"
    families = ("spmv", "spmm", "transposed")

    def __init__(self, device):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax
        from jax.experimental import sparse
        self.device = jax.devices("cpu" if device == "cpu" else "gpu")[ordinal_of(device)]
        self.jax, self.sparse, self.version = jax, sparse, jax.__version__

    def seconds(self, function):
        begin = time.perf_counter()
        function()
        return time.perf_counter() - begin

    def release(self):
        pass

    def ways(self, kernel, data):
        jax, put = self.jax, lambda a: self.jax.device_put(a, self.device)

        def make():
            m = data["matrix"]
            if kernel.family == "transposed":
                m = m.transposed()
            parts = tuple(put(a) for a in (m.values, m.indices, m.indptr))

            @jax.jit
            def repeat(parts, x, count):
                a = self.sparse.BCSR(parts, shape=m.shape)
                return jax.lax.fori_loop(0, count, lambda _, x: a @ x, x)

            run = Run((put(data["x"]),), None, ("x",), np.asarray)

            def steps(count):
                run.state = (jax.block_until_ready(repeat(parts, run.state[0], count)),)
            run.steps = steps
            return run
        return {"BCSR": make}


class Driver:
    """The driver of CUDA: memory, copies and events."""

    def __init__(self, ordinal):
        self.library = ctypes.CDLL(
            os.environ.get("SPARSE_AUTOGRAD_CUDA_DRIVER", "libcuda.so.1"))
        self.call("cuInit", ctypes.c_uint(0))
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(ordinal))
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.context = context

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise OSError(f"{name} fails with {status}")

    @contextlib.contextmanager
    def current(self):
        self.call("cuCtxPushCurrent_v2", self.context)
        try:
            yield
        finally:
            self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def synchronize(self):
        with self.current():
            self.call("cuCtxSynchronize")

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(1, size)))
        return address.value

    def free(self, address):
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def upload(self, array):
        array = np.ascontiguousarray(array)
        address = self.allocate(array.nbytes)
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address),
                  ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))
        return address

    def download(self, address, shape):
        array = np.empty(shape, np.float32)
        self.call("cuCtxSynchronize")
        self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data),
                  ctypes.c_uint64(address), ctypes.c_size_t(array.nbytes))
        return array

    def seconds(self, function):
        begin, end = ctypes.c_void_p(), ctypes.c_void_p()
        for event in (begin, end):
            self.call("cuEventCreate", ctypes.byref(event), ctypes.c_uint(0))
        self.call("cuCtxSynchronize")
        self.call("cuEventRecord", begin, None)
        function()
        self.call("cuEventRecord", end, None)
        self.call("cuEventSynchronize", end)
        passed = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(passed), begin, end)
        for event in (begin, end):
            self.call("cuEventDestroy_v2", event)
        return passed.value / 1e3


@functools.lru_cache(maxsize=None)
def driver_of(device):
    return Driver(ordinal_of(device))


def copy_bandwidth(size, device):
    """The bytes a second, read and written, of the driver's own copy of `size`
    bytes on the device."""
    driver, addresses = driver_of(device), []
    with driver.current():
        try:
            for _ in range(2):
                addresses.append(driver.allocate(size))
            target, source = map(ctypes.c_uint64, addresses)
            # Copies of zeros may be faster than those of numbers.
            numbers = np.random.default_rng(0).random(size // 4, np.float32)
            driver.call("cuMemcpyHtoD_v2", source, ctypes.c_void_p(numbers.ctypes.data),
                        ctypes.c_size_t(4 * numbers.size))

            def copy(count):
                for _ in range(count):
                    driver.call("cuMemcpyDtoDAsync_v2", target, source, ctypes.c_size_t(size),
                                None)
            copy(3)
            seconds = min(driver.seconds(lambda: copy(10)) / 10 for _ in range(3))
        finally:
            for address in addresses:
                driver.free(address)
    return 2 * size / seconds


# Of cusparse.h and library_types.h.
R_32F, INDEX_32I, BASE_ZERO, ORDER_COLUMN, ORDER_ROW = 0, 2, 0, 1, 2
PLAIN, TRANSPOSE = 0, 1
SPMV_ALGORITHMS = {"csr 1": 2, "csr 2": 3}
SPMM_ALGORITHMS = {"csr 1": 4, "csr 2": 6, "csr 3": 12}


class CuSparse:
    """The generic API of cuSPARSE, with preprocessing, through the driver."""

    name = "cuSPARSE"
    families = ("spmv", "spmm", "transposed", "sddmm")

    def __init__(self, device):
        if device == "cpu":
            raise ImportError("it needs a GPU")
        # PyTorch's wheels bring the library: what is loaded first serves both,
        # and PyTorch may need more than what the system has.
        with contextlib.suppress(Exception):
            import torch  # noqa: F401
        self.driver = driver_of(device)
        self.library = self.load()
        self.owned, self.descriptors = [], []
        self.handle = ctypes.c_void_p()
        version = ctypes.c_int()
        with self.driver.current():
            self.call("cusparseCreate", ctypes.byref(self.handle))
            self.call("cusparseGetVersion", self.handle, ctypes.byref(version))
        self.version = version.value
        self.one, self.zero = ctypes.c_float(1), ctypes.c_float(0)

    @staticmethod
    def load():
        """The library of the system, of PyTorch's wheels or of a toolkit."""
        places = ["libcusparse.so.12", "libcusparse.so"]
        for folder in sys.path:
            places += sorted(glob.glob(os.path.join(folder, "nvidia", "*", "lib",
                                                    "libcusparse.so.*")))
        places += sorted(glob.glob("/usr/local/cuda*/lib*/libcusparse.so.*"))
        for place in places:
            # It names libraries that are beside it, or in a folder beside that.
            around = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(place))),
                                  "*", "lib", "libnvJitLink.so.*")
            for needed in sorted(glob.glob(around)) if os.path.isabs(place) else ():
                with contextlib.suppress(OSError):
                    ctypes.CDLL(needed, mode=ctypes.RTLD_GLOBAL)
            with contextlib.suppress(OSError):
                return ctypes.CDLL(place)
        raise ImportError("libcusparse is not found")

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise OSError(f"{name} fails with {status}")

    def seconds(self, function):
        with self.driver.current():
            return self.driver.seconds(function)

    def release(self):
        with self.driver.current():
            self.driver.call("cuCtxSynchronize")
            for destroy, descriptor in self.descriptors:
                self.call(destroy, descriptor)
            for address in self.owned:
                self.driver.free(address)
        self.owned, self.descriptors = [], []

    def own(self, address):
        self.owned.append(address)
        return ctypes.c_void_p(address)

    def describe(self, kind, *arguments):
        descriptor = ctypes.c_void_p()
        self.call(f"cusparseCreate{kind}", ctypes.byref(descriptor), *arguments)
        destroy = {"Csr": "cusparseDestroySpMat"}.get(kind, f"cusparseDestroy{kind}")
        self.descriptors.append((destroy, descriptor))
        return descriptor

    def csr(self, a):
        parts = [self.own(self.driver.upload(p)) for p in (a.indptr, a.indices, a.values)]
        extents = [ctypes.c_int64(e) for e in (*a.shape, a.nnz)]
        descriptor = self.describe("Csr", *extents, *parts, INDEX_32I, INDEX_32I, BASE_ZERO, R_32F)
        return descriptor, parts[2]

    def matrix(self, array, transposed=False):
        """A dense matrix by rows; transposed, that is by columns."""
        address = self.own(self.driver.upload(array))
        rows, columns = array.shape
        extents = (columns, rows) if transposed else (rows, columns)
        return self.describe("DnMat", *map(ctypes.c_int64, (*extents, columns)), address, R_32F,
                             ORDER_COLUMN if transposed else ORDER_ROW), address

    def vector(self, array):
        address = self.own(self.driver.upload(array))
        return self.describe("DnVec", ctypes.c_int64(len(array)), address, R_32F), address

    def prepared(self, operation, *variants):
        """Preprocesses an operation, given arguments that differ in dense operands
        alone; returns a call for each. They share one buffer: of a matrix, what was
        preprocessed last is all that counts."""
        sizes = []
        for arguments in variants:
            size = ctypes.c_size_t()
            self.call(f"{operation}_bufferSize", *arguments, ctypes.byref(size))
            sizes.append(size.value)
        buffer = self.own(self.driver.allocate(max(sizes)))
        # Older versions have none for a product with a vector.
        if hasattr(self.library, f"{operation}_preprocess"):
            self.call(f"{operation}_preprocess", *variants[0], buffer)
        return [functools.partial(self.call, operation, *arguments, buffer)
                for arguments in variants]

    def product(self, a, x, operation, algorithm, transpose):
        """x <- op(a) x, by turns from one array to another and back."""
        with self.driver.current():
            matrix, _ = self.csr(a)
            wrap = self.matrix if x.ndim == 2 else self.vector
            operands = [wrap(x), wrap(np.zeros_like(x))]
            plain = (PLAIN,) if x.ndim == 2 else ()
            calls = self.prepared(operation, *(
                (self.handle, transpose, *plain, ctypes.byref(self.one), matrix, source,
                 ctypes.byref(self.zero), target, R_32F, algorithm)
                for (source, _), (target, _) in (operands, operands[::-1])))
        run = Run((0,), None, ("x",), None)

        def steps(count):
            with self.driver.current():
                for i in range(run.state[0], run.state[0] + count):
                    calls[i % 2]()
            run.state = (run.state[0] + count,)

        def results():
            with self.driver.current():
                return {"x": self.driver.download(operands[run.state[0] % 2][1].value, x.shape)}
        run.steps, run.results = steps, results
        return run

    def sampled(self, data):
        with self.driver.current():
            matrix, values = self.csr(data["matrix"])
            x, y = self.matrix(data["x"])[0], self.matrix(data["y"], transposed=True)[0]
            call, = self.prepared("cusparseSDDMM", (
                self.handle, PLAIN, PLAIN, ctypes.byref(self.one), x, y, ctypes.byref(self.one),
                matrix, R_32F, 0))
        run = Run((), None, ("v",), None)

        def steps(count):
            with self.driver.current():
                for _ in range(count):
                    call()

        def results():
            with self.driver.current():
                return {"v": self.driver.download(values.value, data["matrix"].nnz)}
        run.steps, run.results = steps, results
        return run

    def ways(self, kernel, data):
        if kernel.family == "sddmm":
            return {"default": lambda: self.sampled(data)}
        algorithms = SPMV_ALGORITHMS if kernel.family == "spmv" else SPMM_ALGORITHMS
        operation = "cusparseSpMV" if kernel.family == "spmv" else "cusparseSpMM"

        def way(a, algorithm, transpose=PLAIN):
            return lambda: self.product(a, data["x"], operation, algorithm, transpose)

        if kernel.family != "transposed":
            return {name: way(data["matrix"], number) for name, number in algorithms.items()}
        # Stored as it is, and converted before it is timed.
        ways = {"op(A)": way(data["matrix"], algorithms["csr 2"], TRANSPOSE)}
        converted = data["matrix"].transposed()
        ways.update({f"A^T, {name}": way(converted, number) for name, number in algorithms.items()})
        return ways


LIBRARIES = {library.name: library for library in (CuSparse, PyTorch, PyG, JAX)}
