# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers of traced programs: functions of a seed and a counter alone, the same
bits on every machine and for every number of threads. Take another counter for each
use; a program that is called again with the same draws the same (semantics M5).
"""

import numpy as np

from ._structured import array, astype
from ._shapes import _index_of, _known
from ._trace import ArrayType, TraceError, current
from ._values import is_float


def _word(x, what):
    x, f = array(x), current()
    if x.ndim or x.dtype.kind != "i":
        raise TraceError(f"{what} is an integer, not an array of {x.type}")
    x, name = astype(x, np.int64), f.fresh()
    f.emit(f"{name} = tensor.extract {f.use(x)}[] : {x.type}")
    return name


def _draw(distribution, seed, counter, shape, dtype, words=""):
    shape = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    f, type_ = current(), ArrayType(tuple(_known(e) for e in shape), np.dtype(dtype))
    seed, counter = _word(seed, "a seed"), _word(counter, "a counter")
    open_ = [_index_of(e) for e in shape if _known(e) is None]
    extents = f", [{', '.join(open_)}]" if open_ else ""
    return f.op(f"sparse_autograd.random {distribution} {seed}, {counter}{extents}{words} : {type_}", type_)


def _float(dtype):
    if not is_float(np.dtype(dtype)):
        raise TraceError(f"random numbers are floats, not {np.dtype(dtype)}")
    return dtype


def uniform(seed, counter, shape, dtype=np.float64):
    """Numbers in [0, 1).

    u = snp.random.uniform(seed, 0, x.shape)
    """
    return _draw("uniform", seed, counter, shape, _float(dtype))


def normal(seed, counter, shape, dtype=np.float64):
    """Numbers of mean 0 and variance 1.

    w = snp.random.normal(seed, 1, (8, 16))
    """
    return _draw("normal", seed, counter, shape, _float(dtype))


def bernoulli(seed, counter, probability, shape):
    """A mask that is true with a probability, a number of Python.

    keep = snp.random.bernoulli(seed, step, 0.5, x.shape)
    """
    if not isinstance(probability, (int, float)) or not 0 <= probability <= 1:
        raise TraceError(f"a probability is a number from 0 to 1, not {probability!r}")
    words = f" probability = {float(probability)!r}"
    return _draw("bernoulli", seed, counter, shape, np.bool_, words)
