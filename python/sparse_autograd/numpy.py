# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's names on arrays that are traced: `import sparse_autograd.numpy as snp`.

Functions mean what those of NumPy mean, on dense and on SciPy's sparse arrays, and
write MLIR (docs/python.md). What a mask (`where=`) leaves out, or a sparse array does
not store, influences neither values nor gradients.
"""

from . import random
from ._control import cond, fori_loop, progress, scan, while_loop
from ._elementwise import (
    abs,
    absolute,
    add,
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    cbrt,
    ceil,
    clip,
    copysign,
    cos,
    cosh,
    divide,
    equal,
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    floor,
    floor_divide,
    fma,
    fmax,
    fmin,
    fmod,
    greater,
    greater_equal,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    log10,
    log1p,
    log2,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    not_equal,
    power,
    reciprocal,
    remainder,
    rint,
    rsqrt,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    true_divide,
    trunc,
    where,
)
from ._products import (
    dot,
    gather,
    grad_mask,
    matmul,
    pattern,
    sample,
    stop_gradient,
    take,
    todense,
)
from ._reductions import (
    log_softmax,
    logsumexp,
    max,
    mean,
    min,
    norm,
    prod,
    softmax,
    std,
    sum,
    var,
)
from ._shapes import (
    broadcast_to,
    concatenate,
    expand_dims,
    full_like,
    ones_like,
    reshape,
    squeeze,
    transpose,
    zeros_like,
)
from ._selection import choose_24, mask_24, sparsify_24, sparsify_24_like
from ._sparse import (
    accumulate,
    scatter_rows,
    segment_sum,
    sparse_zeros_like,
    stored_coordinates,
    stored_values,
    with_values,
)
from ._structured import array, astype
from ._update import arange, one_hot, pad, stack
from numpy import bool_, e, float16, float32, float64, inf, int32, int64, nan, newaxis, pi

asarray = array

__all__ = [name for name in dir() if not name.startswith("_")]
