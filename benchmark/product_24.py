#!/usr/bin/env python3
# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""2:4 storage and products on one thread of the CPU, by calls of the runtime.

    benchmark/product_24.py build/lib/libSparseAutogradRuntime.so [--what W]

--what pack      packing by rows, by columns and both, against a copy
--what products  W X with weights W that store two of four, against OpenBLAS on
                 the dense weights (of f32; bf16 is widened)
--what model     cells drawn with --seed, half of them near where both are equal:
                 the choices of the cost model (Product24Cost.h), measured both ways

OpenBLAS is what the runtime calls and, of a vector (n = 1), the product of NumPy
where that is faster: set OPENBLAS_NUM_THREADS=1. All sides of a comparison are
called in turn, in several rounds; a time is the least of them. A choice is right
if the other one is at most 3 % faster.
"""

import argparse
import ctypes
import sys
import time

import numpy as np

I, P = ctypes.c_int64, ctypes.c_void_p
BYTES = {"bf16": 2, "f32": 4}
# SparseAutogradProduct24Element
ELEMENTS = {"f32": 0, "bf16": 1}


def aligned(array):
    room = np.zeros(array.nbytes + 64, np.uint8)
    begin = -room.ctypes.data % 64
    copy = room[begin:begin + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def address(array):
    return None if array is None else array.ctypes.data_as(P)


def measure(functions, rounds, repeats=1):
    """The least seconds of each function, called in turn."""
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for number, function in enumerate(functions):
            begin = time.perf_counter()
            for _ in range(repeats):
                function()
            best[number] = min(best[number],
                               (time.perf_counter() - begin) / repeats)
    return best


def to_bits(array, kind):
    """bf16 as the upper half of f32."""
    array = np.ascontiguousarray(array, np.float32)
    if kind == "f32":
        return array
    return (array.view(np.uint32) >> 16).astype(np.uint16)


def widen(bits, kind):
    if kind == "f32":
        return bits
    return (bits.astype(np.uint32) << 16).view(np.float32)


def choose(rng, rows, columns):
    """Tiles that keep two of each row and column, as choices."""
    rolls = np.array([0x3C3C, 0xC3C3, 0x5A5A, 0xA5A5, 0x9696, 0x6969], np.uint16)
    return aligned(rng.choice(rolls, (rows // 4, columns // 4)))


def draw(rng, rows, columns):
    """Packed weights: values, coordinates and the dense matrix."""
    groups = rows * -(-columns // 4)
    nibbles = rng.choice(np.array([0x4, 0x8, 0xC, 0x9, 0xD, 0xE], np.uint8),
                         groups + groups % 2)
    values = rng.standard_normal((groups, 2)).astype(np.float32)
    dense = np.zeros((groups, 4), np.float32)
    pairs = np.stack([nibbles[:groups] & 3, nibbles[:groups] >> 2], 1)
    np.put_along_axis(dense, pairs.astype(np.int64), values, axis=1)
    coordinates = nibbles[::2] | nibbles[1::2] << 4
    return values, coordinates, dense.reshape(rows, -1)[:, :columns]


def pack(runtime, options):
    libc = ctypes.CDLL(None)
    rng = np.random.default_rng(options.seed)
    print("kind rows x columns: copy GB/s; share of it by rows, by columns, both, "
          "of what is not zero by rows")
    shapes = [tuple(map(int, shape.split("x"))) for shape in options.shapes.split(",")]
    for kind, (rows, columns) in [(k, s) for k in BYTES for s in shapes]:
        choice = choose(rng, rows, columns)
        keep = np.zeros((rows, columns), bool)
        for bit in range(16):
            keep[bit // 4::4, bit % 4::4] = choice >> bit & 1
        dense = aligned(to_bits(rng.standard_normal((rows, columns)), kind))
        selected = aligned(np.where(keep, dense, 0).astype(dense.dtype))
        copy = aligned(dense)
        lists = [aligned(np.zeros(dense.size // 2, dense.dtype)),
                 aligned(np.zeros(dense.size // 8, np.uint8))]
        lists += [aligned(a) for a in lists]

        def call(places):
            arguments = [address(a) if i in places else None
                         for i, a in enumerate(lists)]
            runtime.sparseAutogradPack24(I(1), I(rows), I(columns), I(BYTES[kind]),
                                         address(dense), address(choice), *arguments)

        seconds = measure([
            lambda: libc.memcpy(address(copy), address(dense), ctypes.c_size_t(dense.nbytes)),
            lambda: call((0, 1)), lambda: call((2, 3)), lambda: call((0, 1, 2, 3)),
            lambda: runtime.sparseAutogradPackNonzeros24(
                I(2), I(rows), I(columns), I(BYTES[kind]), address(selected),
                address(lists[0]), address(lists[1]))], options.rounds)
        packed = lists[0].nbytes + lists[1].nbytes
        moved = [2 * dense.nbytes, dense.nbytes + choice.nbytes + packed,
                 dense.nbytes + choice.nbytes + packed,
                 dense.nbytes + choice.nbytes + 2 * packed, dense.nbytes + packed]
        rates = [m / s for m, s in zip(moved, seconds)]
        print(f"{kind} {rows} x {columns}: {rates[0] / 1e9:.1f};",
              " ".join(f"{r / rates[0]:.2f}" for r in rates[1:]), flush=True)


class Cell:
    """One product, by each strategy of the runtime and as a dense one."""

    def __init__(self, runtime, rng, kind, m, k, n):
        self.runtime, self.kind = runtime, kind
        self.m, self.k, self.n = m, k, n
        values, coordinates, dense = draw(rng, m, k)
        bits = to_bits(values, kind)
        self.values, self.coordinates = aligned(bits), aligned(coordinates)
        self.dense = aligned(widen(to_bits(dense, kind), kind))
        self.x = aligned(rng.standard_normal((n, k)).astype(np.float32))
        self.y = aligned(np.zeros((n, m), np.float32))
        self.expected = aligned(np.zeros((n, m), np.float32))
        self.multiply = runtime.sparseAutogradMultiply24
        self.multiply.argtypes = [I, I, I, I, P, P, I, P, I, I, P, I, I, I]
        self.arguments = (ELEMENTS[kind], m, n, k, address(self.values), address(self.coordinates), 0,
                          address(self.x), 1, k, address(self.y), 1, m)

    def stored(self, strategy):
        self.multiply(*self.arguments, strategy)

    def blas(self):
        self.runtime.sparseAutogradGemmF32(
            I(self.n), I(self.m), I(self.k), ctypes.c_float(1), address(self.x),
            I(self.k), I(1), address(self.dense), I(1), I(self.k), ctypes.c_float(1),
            address(self.expected), I(self.m), I(1))

    def gemv(self):
        """A vector, by the BLAS of NumPy."""
        np.dot(self.dense, self.x[0], out=self.expected[0])

    def check(self, strategy):
        self.y[...] = 0
        self.stored(strategy)
        wanted = self.x.astype(np.float64) @ self.dense.T.astype(np.float64)
        bound = np.abs(self.x).astype(np.float64) @ np.abs(self.dense.T)
        error = np.abs(self.y - wanted)
        assert np.all(error <= 4e-5 * bound + 1e-30), "wrong product"


def products(runtime, options):
    rng = np.random.default_rng(options.seed)
    print("kind m x k, n: OpenBLAS us; times as fast: fastest, sparse, dense")
    for kind in ("f32", "bf16"):
        for m, k in ((2048, 2048), (4096, 1024)):
            for n in (1, 8, 32, 128):
                cell = Cell(runtime, rng, kind, m, k, n)
                for strategy in (0, 1, 2):
                    cell.check(strategy)
                seconds = measure([cell.blas, *[lambda s=s: cell.stored(s)
                                                for s in (0, 1, 2)],
                                   cell.gemv if n == 1 else cell.blas], options.rounds)
                seconds[0] = min(seconds[0], seconds.pop())
                print(f"{kind} {m} x {k}, {n}: {1e6 * seconds[0]:.0f};",
                      " ".join(f"{seconds[0] / s:.2f}" for s in seconds[1:]), flush=True)


def model(runtime, options):
    rng = np.random.default_rng(options.seed)
    right, worst, count = 0, 1.0, 0
    for _ in range(options.cells):
        near = rng.random() < 0.5
        while True:
            m, k = (int(2 ** rng.uniform(2, 7 if near else 11)) for _ in range(2))
            n = int(2 ** rng.uniform(0, 9))
            if m * k * n < 5e8:
                break
        kind = str(rng.choice(["f32", "bf16"]))
        cell = Cell(runtime, rng, kind, m, k, n)
        repeats = max(1, int(2e6 / (m * k * n / 50 + 2000)))
        chosen, sparse, dense = measure(
            [lambda s=s: cell.stored(s) for s in (0, 1, 2)], options.rounds, repeats)
        took_sparse = abs(chosen - sparse) < abs(chosen - dense)
        lost = (sparse / dense if took_sparse else dense / sparse)
        count += 1
        right += lost <= 1.03
        worst = max(worst, lost)
        print(f"{kind} {m} x {k}, {n}: {1e6 * sparse:.1f} us sparse, "
              f"{1e6 * dense:.1f} dense: {'sparse' if took_sparse else 'dense'}"
              f"{'' if lost <= 1.03 else f', loses {100 * (lost - 1):.0f} %'}", flush=True)
    print(f"{right} of {count} right, the worst choice costs {100 * (worst - 1):.0f} %")
    return 1 if options.require and (right < 0.9 * count or worst > 1.10) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runtime")
    parser.add_argument("--what", default="products",
                        choices=("pack", "products", "model"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--shapes", default="2048x2048,4096x4096,4096x11008",
                        help="of the matrices to pack")
    parser.add_argument("--cells", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--require", action="store_true",
                        help="fail unless 9 of 10 choices of the model are right, and the "
                             "worst costs 10 % at most")
    options = parser.parse_args()
    runtime = ctypes.CDLL(options.runtime)
    runtime.sparseAutogradSetThreadCount(1)
    return {"pack": pack, "products": products, "model": model}[options.what](
        runtime, options) or 0


if __name__ == "__main__":
    sys.exit(main())
