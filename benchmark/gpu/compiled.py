"""Calls functions that sparse-compile has compiled, by ctypes.

A shared object describes its functions itself (docs/manifest.md), so that this
works for any of them: dense arrays are NumPy's, sparse ones `Sparse`.
"""

import ctypes
import json
import os
import time

import numpy as np

DTYPES = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32,
          "i64": np.int64, "index": np.int64, "f16": np.float16,
          "f32": np.float32, "f64": np.float64}


class Failure(Exception):
    """What the runtime says of a call that failed."""


class Sparse:
    """Storage: for each level its positions and coordinates, then the values."""

    def __init__(self, lists, shape):
        self.lists, self.shape = lists, tuple(shape)

    @property
    def values(self):
        return self.lists[-1]


class Counters(ctypes.Structure):
    """SparseAutogradDeviceCounters (Runtime/Device.h)."""
    _fields_ = [(name, ctypes.c_int64) for name in (
        "allocations", "allocated_bytes", "live_blocks", "live_bytes",
        "peak_live_blocks", "peak_live_bytes", "abandoned_blocks", "launches",
        "loads", "bytes_copied_in", "bytes_copied_out", "bytes_copied_on_device",
        "waits", "library_products")]


class DeviceInfo(ctypes.Structure):
    """SparseAutogradDeviceInfo (Runtime/Device.h)."""
    _fields_ = [("device", ctypes.c_char * 32), ("name", ctypes.c_char * 256)] + [
        (name, ctypes.c_int32) for name in (
            "driver_version", "compute_major", "compute_minor", "multiprocessors")] + [
        (name, ctypes.c_int64) for name in (
            "max_shared_bytes", "total_bytes", "free_bytes", "pooled_bytes")]


class Runtime:
    """The runtime library, and what it needs that a system may lack."""

    def __init__(self, folder):
        # What is loaded already satisfies the library, by its name. Not for all to
        # use: PyTorch brings an OpenMP of its own.
        openmp = os.path.join(folder, "libomp.so.5")
        if os.path.exists(openmp):
            self.openmp = ctypes.CDLL(openmp)
        self.library = ctypes.CDLL(os.path.join(folder, "libSparseAutogradRuntime.so"))
        self.library.sparseAutogradLastError.restype = ctypes.c_char_p
        self.library.sparseAutogradFree.argtypes = [ctypes.c_void_p]
        self.library.sparseAutogradSetDevice.argtypes = [ctypes.c_char_p]
        self.library.sparseAutogradCountDevice.argtypes = [ctypes.c_char_p]
        self.library.sparseAutogradGetDeviceCounts.restype = ctypes.c_char_p

    def check(self, status):
        if status:
            raise Failure(self.library.sparseAutogradLastError().decode())

    def set_device(self, name):
        self.check(self.library.sparseAutogradSetDevice(name.encode()))

    def device_info(self):
        info = DeviceInfo()
        self.check(self.library.sparseAutogradGetDeviceInfo(ctypes.byref(info)))
        return info

    def counters(self):
        counters = Counters()
        self.library.sparseAutogradGetDeviceCounters(ctypes.byref(counters))
        return counters

    def count(self, machine):
        """Counts the launches of emulated devices from now on, for a machine with a
        description; what was counted is forgotten."""
        self.check(self.library.sparseAutogradCountDevice(machine.encode()))

    def counts(self):
        """What was counted since."""
        return json.loads(self.library.sparseAutogradGetDeviceCounts())

    def trim(self):
        """Gives the device the memory back that is kept for reuse."""
        self.check(self.library.sparseAutogradTrimDevicePool())


def words_of(array):
    """The descriptor of a dense array (SparseAutogradMemRef<rank>)."""
    strides = [s // array.itemsize for s in array.strides]
    return [array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides]


def components_of(encoding, element_type):
    """The element types of the components of storage."""
    types = []
    for level in encoding["levels"]:
        if level["format"] in ("compressed", "loose_compressed"):
            types.append(encoding["position_type"])
        if level["format"] != "dense":
            types.append(encoding["coordinate_type"])
    return types + [element_type]


class Function:
    """A function of a shared object."""

    def __init__(self, runtime, path, name="run"):
        self.runtime = runtime
        self.library = ctypes.CDLL(path)
        start = ctypes.c_char.in_dll(self.library, "sparse_autograd_manifest")
        manifest = json.loads(ctypes.string_at(ctypes.addressof(start)))
        entry = next(e for e in manifest["entries"] if e["name"] == name)
        self.arguments, self.results = entry["arguments"], entry["results"]
        self.symbol = getattr(self.library, entry["symbol"])

    def _pack(self, type_, value):
        """The words or the scalar that an argument points to, and what they
        point to, which has to live as long."""
        dtype = DTYPES[type_["element_type"]]
        if "shape" not in type_:
            return np.array([value], dtype), None
        if "encoding" not in type_:
            array = np.ascontiguousarray(value, dtype)
            return np.array(words_of(array), np.int64), array
        types = components_of(type_["encoding"], type_["element_type"])
        if len(types) != len(value.lists):
            raise Failure(f"'{type_['name']}' has {len(types)} lists")
        lists = [np.ascontiguousarray(a, DTYPES[t]) for a, t in zip(value.lists, types)]
        words = [w for a in lists for w in words_of(a)]
        return np.array([*words, *value.shape], np.int64), lists

    @staticmethod
    def _empty(type_):
        if "shape" not in type_:
            return np.zeros(1, DTYPES[type_["element_type"]])
        if "encoding" not in type_:
            return np.zeros(3 + 2 * len(type_["shape"]), np.int64)
        count = len(components_of(type_["encoding"], type_["element_type"]))
        return np.zeros(5 * count + len(type_["shape"]), np.int64)

    def _take(self, words, rank, dtype, keep):
        """The array of a descriptor; releases the descriptor's memory."""
        allocated, aligned, offset = (int(w) for w in words[:3])
        array = None
        if keep:
            shape = [int(w) for w in words[3:3 + rank]]
            count = int(np.prod(shape))
            source = aligned + offset * np.dtype(dtype).itemsize
            # ctypes has no array at address 0, which an empty one may have.
            array = np.empty(shape, dtype)
            if count:
                ctypes.memmove(array.ctypes.data, source, count * array.itemsize)
        self.runtime.check(self.runtime.library.sparseAutogradFree(allocated))
        return array

    def _unpack(self, type_, words, keep):
        element_type = type_["element_type"]
        if "shape" not in type_:
            return words[0]
        rank = len(type_["shape"])
        if "encoding" not in type_:
            return self._take(words, rank, DTYPES[element_type], keep)
        types = components_of(type_["encoding"], element_type)
        lists = [self._take(words[5 * i:5 * i + 5], 1, DTYPES[t], keep)
                 for i, t in enumerate(types)]
        return Sparse(lists, words[5 * len(types):])

    def __call__(self, values, keep=True):
        """Calls it with arguments by name. Returns the seconds that it took and
        the results by name, or nothing for them if they are not kept."""
        packed = [self._pack(t, values[t["name"]]) for t in self.arguments]
        places = [self._empty(t) for t in self.results]
        pointers = (ctypes.c_void_p * max(1, len(packed)))(
            *[p.ctypes.data for p, _ in packed])
        targets = (ctypes.c_void_p * max(1, len(places)))(*[p.ctypes.data for p in places])
        begin = time.perf_counter()
        status = self.symbol(pointers, targets)
        seconds = time.perf_counter() - begin
        self.runtime.check(status)
        results = {t["name"]: self._unpack(t, place, keep)
                   for t, place in zip(self.results, places)}
        return seconds, results if keep else None
