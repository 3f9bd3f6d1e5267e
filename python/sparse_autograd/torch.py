# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of torch's tensors, dense and sparse, with gradients, and modules.

A function is traced, compiled, and an autograd.Function: `backward`, hooks,
`retain_graph`, second derivatives, checkpoints, DistributedDataParallel and autocast
work. What is saved for the backward pass are the arguments; the backward pass computes
again what else it needs. Under torch.compile it is a custom op (of dense tensors, and
of the parts of CSR ones).
"""

import itertools

import numpy as np
import scipy.sparse as sp
import torch

from . import _tree
from . import numpy as snp
from ._extents import Extents
from ._trace import ArrayType, Format, TraceError, is_tracing
from ._values import bfloat16, is_bfloat16
from .transforms import Compiled, trace, vjp

_LAYOUTS = {
    torch.sparse_csr: ("csr", "crow_indices", "col_indices"),
    torch.sparse_csc: ("csc", "ccol_indices", "row_indices"),
    torch.sparse_bsr: ("bsr", "crow_indices", "col_indices"),
}
_DTYPES = {
    torch.bool: np.bool_, torch.int8: np.int8, torch.int16: np.int16, torch.int32: np.int32,
    torch.int64: np.int64, torch.float16: np.float16, torch.float32: np.float32,
    torch.float64: np.float64,
}  # fmt: skip
if bfloat16() is not None:
    _DTYPES[torch.bfloat16] = bfloat16().type


def _view(tensor):
    """A dense tensor as an array that shares its memory."""
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(bfloat16())
    return tensor.numpy()


def _take(array):
    """The opposite."""
    array = np.asarray(array)
    if is_bfloat16(array.dtype):
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


class CSR:
    """A sparse matrix by its parts, `CSR(crow, col, values, (rows, columns))`: dense
    tensors, which torch.compile takes. The gradient by `values` is a dense list."""

    def __init__(self, crow, col, values, shape):
        self.crow, self.col, self.values, self.shape = crow, col, values, tuple(shape)

    @staticmethod
    def of(matrix):
        """Copies of the parts of a sparse CSR tensor; views of one are what
        torch.compile does not take."""
        parts = matrix.crow_indices(), matrix.col_indices(), matrix.values()
        return CSR(*(p.clone() for p in parts), matrix.shape)


def _matrix(form, indptr, indices, data, shape):
    """A SciPy array of these parts; its constructor would convert indices."""
    make = getattr(sp, f"{form}_array")
    blocks = {"blocksize": data.shape[1:]} if form == "bsr" else {}
    matrix = make(tuple(shape), **blocks)
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, data
    return matrix


def _check(tensor):
    if tensor.device.type != "cpu":
        raise TypeError(f"a tensor on {tensor.device}: functions take tensors of the CPU: give its cpu()")
    if tensor.dtype not in _DTYPES:
        more = ", or install ml_dtypes" if tensor.dtype == torch.bfloat16 else ""
        raise TypeError(f"a tensor of {tensor.dtype}: give its float(){more}")


def _to_array(tensor, indices=None):
    """A tensor as an array of NumPy or SciPy, which shares its memory. The tensors of
    indices are added to the dict `indices`, by their addresses."""
    _check(tensor)
    indices = {} if indices is None else indices
    tensor = tensor.detach().resolve_neg()
    if tensor.layout == torch.strided:
        return _view(tensor)
    if tensor.layout == torch.sparse_coo:
        if not tensor.is_coalesced():
            raise TypeError("an uncoalesced tensor: give its coalesce()")
        if tensor.sparse_dim() != tensor.ndim:
            raise TypeError("a COO tensor with dense dimensions: give its to_dense()")
        matrix = sp.coo_array(tuple(tensor.shape))
        coordinates = tensor.indices()
        indices[coordinates.data_ptr()] = coordinates
        matrix.coords = tuple(i.numpy() for i in coordinates.unbind(0))
        matrix.data = _view(tensor.values())
        return matrix
    if tensor.layout not in _LAYOUTS or tensor.ndim != 2:
        raise TypeError(f"a tensor of the layout {tensor.layout}, rank {tensor.ndim}: give its to_dense()")
    form, *names = _LAYOUTS[tensor.layout]
    parts = [getattr(tensor, name)() for name in names]
    indices.update({part.data_ptr(): part for part in parts})
    return _matrix(form, *(_view(part) for part in (*parts, tensor.values())), tensor.shape)


def _to_tensor(value, indices):
    """A result as a tensor, which shares its memory. What it has in common with an
    argument is for reading only: of indices the tensors of the dict `indices` are
    taken, which _to_array has found; values are copied."""
    if isinstance(value, (np.ndarray, np.generic)):
        return _take(value)
    if not sp.issparse(value):
        raise TypeError(f"a result is a {type(value).__name__}, which torch has not: return its todense()")
    shape = tuple(value.shape)

    def find(array, extents):
        known = None if array.flags.writeable else indices.get(array.ctypes.data)
        return known if known is not None and known.shape == extents else None

    def take(array):
        if (known := find(array, array.shape)) is not None:
            return known
        return torch.from_numpy(array if array.flags.writeable else array.copy())

    data = value.data if value.data.flags.writeable else value.data.copy()
    data = _take(data)
    if value.format == "coo":
        coordinates = find(value.coords[0], (len(value.coords), value.nnz))
        if coordinates is None:
            coordinates = torch.from_numpy(np.stack(value.coords))
        return torch.sparse_coo_tensor(coordinates, data, shape, is_coalesced=True, check_invariants=False)
    make = getattr(torch, f"sparse_{value.format}_tensor")
    return make(take(value.indptr), take(value.indices), data, shape, check_invariants=False)


def _core(cotangent):
    """A cotangent without the dimensions that it only repeats, as that of a sum does: in
    their place are some of extent 1. As it is where it is differentiated itself."""
    if cotangent.layout != torch.strided or cotangent.requires_grad:
        return cotangent
    repeats = [n > 1 and stride == 0 for n, stride in zip(cotangent.shape, cotangent.stride())]
    return cotangent[tuple(slice(0, 1 if r else None) for r in repeats)] if any(repeats) else cotangent


def _spread(cotangents, results):
    """In a function that is traced, the opposite: cotangents of the extents of the
    results, a function of nothing."""
    if not any(1 in c.type.shape for c in cotangents if not c.type.format):
        return cotangents
    return tuple(
        snp.broadcast_to(c, r.shape) if not c.type.format and c.type.shape != r.type.shape else c
        for c, r in zip(cotangents, results())
    )


def _kind(leaf):
    if isinstance(leaf, torch.Tensor):
        return "tensor"
    if isinstance(leaf, CSR):
        return "parts"
    return "number" if isinstance(leaf, (bool, int, float)) else "static"


class _Plan:
    """A function for arguments of one structure: of a list of tensors, and of the rest,
    which are numbers and shapes."""

    def __init__(self, function, name, structure, kinds, static, options):
        self.kinds, self._gradients, self._options = kinds, {}, options
        self._traced = {}

        def flat(*arrays):
            given, fixed = iter(arrays), iter(static)
            leaves = [next(fixed) if kind == "static" else next(given) for kind in kinds]
            args, kwargs = _tree.unflatten(structure, iter(leaves))
            results, self.structure = _tree.flatten(function(*args, **kwargs))
            return tuple(results)

        flat.__name__ = self.name = name
        self.function = flat
        self.compiled = Compiled(flat, flat, options)

    def split(self, leaves):
        """The tensors, and the rest."""
        tensors, rest = [], []
        for leaf, kind in zip(leaves, self.kinds):
            if kind == "tensor":
                tensors.append(leaf)
            elif kind == "parts":
                tensors += [leaf.crow, leaf.col, leaf.values]
                rest.append(leaf.shape)
            elif kind == "number":
                rest.append(leaf)
        return tensors, rest

    def join(self, tensors, rest):
        """The leaves but for static ones; the opposite of split."""
        tensors, rest = iter(tensors), iter(rest)
        leaves = []
        for kind in self.kinds:
            if kind == "tensor":
                leaves.append(next(tensors))
            elif kind == "parts":
                leaves.append(CSR(next(tensors), next(tensors), next(tensors), next(rest)))
            elif kind == "number":
                leaves.append(next(rest))
        return leaves

    def run(self, tensors, rest):
        """The results, a list."""
        arrays, indices = [], {}
        for leaf in self.join(tensors, rest):
            if isinstance(leaf, CSR):
                parts = [_to_array(t) for t in (leaf.crow, leaf.col, leaf.values)]
                arrays.append(_matrix("csr", *parts, leaf.shape))
            else:
                arrays.append(_to_array(leaf, indices) if isinstance(leaf, torch.Tensor) else leaf)
        return [_to_tensor(r, indices) for r in self.compiled(*arrays)]

    def gradient(self, needs, returned):
        """The function (leaves, cotangents) of the gradients by the leaves of `needs`;
        `returned` says which results have cotangents."""
        key = needs, returned
        if key not in self._gradients:
            by_parts = [self._arrays()[i] == "parts" for i in needs]

            def floats(*arrays):
                return tuple(r for r, has in zip(self.function(*arrays), returned) if has)

            def gradients(leaves, cotangents):
                cotangents = _spread(tuple(cotangents), lambda: floats(*leaves))
                _, *values = vjp(floats, wrt=needs)(*leaves, cotangents=cotangents)
                return tuple(snp.stored_values(v) if part else v for v, part in zip(values, by_parts))

            gradients.__name__ = f"{self.name}_gradient"
            # A gradient has the extents of its argument.
            like = tuple(self._first_tensor(i) + (2 if part else 0) for i, part in zip(needs, by_parts))
            self._gradients[key] = made = Function(gradients, _like=like, **self._options)
            made._leaf_count = len(self._arrays())
        return self._gradients[key]

    def _arrays(self):
        return [kind for kind in self.kinds if kind != "static"]

    def _first_tensor(self, leaf):
        return sum({"tensor": 1, "parts": 3, "number": 0}[k] for k in self._arrays()[:leaf])

    def leaf_of(self, tensor):
        """The leaf that a tensor is, or whose values it is; None of indices."""
        first = 0
        for i, kind in enumerate(self._arrays()):
            if kind == "tensor" and tensor == first:
                return i
            if kind == "parts" and tensor == first + 2:
                return i
            first += {"tensor": 1, "parts": 3, "number": 0}[kind]
        return None

    def fake(self, tensors, rest):
        """Tensors like the results: of their shapes, dense."""
        types, shapes = [], []
        for leaf in self.join(tensors, rest):
            values = leaf.values if isinstance(leaf, CSR) else leaf
            form = None
            if isinstance(leaf, CSR):
                form = Format("csr", 8 * leaf.col.dtype.itemsize)
            shapes.append(tuple(leaf.shape))
            shape = tuple(1 if n == 1 else None for n in leaf.shape)
            if values.dtype not in _DTYPES:
                _check(values)
            types.append(ArrayType(shape, np.dtype(_DTYPES[values.dtype]), form))
        key = tuple(types)
        if key not in self._traced:
            program = trace(self.function, types)
            self._traced[key] = program, Extents(program)
        program, extents = self._traced[key]
        results = []
        for type_, shape in zip(program.results, extents(shapes)):
            if type_.format:
                raise TraceError("under torch.compile a function returns dense tensors: return todense(y)")
            dtype = next(t for t, n in _DTYPES.items() if np.dtype(n) == type_.dtype)
            results.append(torch.empty(shape, dtype=dtype))
        return results


class _Apply(torch.autograd.Function):
    """The calls of compiled code that autograd records."""

    @staticmethod
    def forward(ctx, plan, rest, *tensors):
        results = plan.run(tensors, rest)
        ctx.plan, ctx.rest = plan, rest
        ctx.save_for_backward(*tensors)
        ctx.is_float = tuple(r.dtype.is_floating_point for r in results)
        ctx.mark_non_differentiable(*(r for r in results if not r.dtype.is_floating_point))
        return tuple(results)

    @staticmethod
    def backward(ctx, *cotangents):
        needed = [i for i, needs in enumerate(ctx.needs_input_grad[2:]) if needs]
        needs = tuple(ctx.plan.leaf_of(i) for i in needed)
        given = [_core(c) for c, has in zip(cotangents, ctx.is_float) if has]
        # A checkpoint gives them once.
        tensors = ctx.saved_tensors
        leaves = ctx.plan.join(tensors, ctx.rest)
        gradients = ctx.plan.gradient(needs, ctx.is_float)(leaves, given)
        result = [None] * (2 + len(tensors))
        for i, g in zip(needed, gradients):
            result[2 + i] = g
        return tuple(result)


_functions, _numbers = {}, itertools.count()


@torch.library.custom_op("sparse_autograd::call", mutates_args=())
def _call(tensors: list[torch.Tensor], sizes: list[int], key: str) -> list[torch.Tensor]:
    plan, rest = _functions[key]._plan_of_sizes(tensors, sizes)
    return plan.run(tensors, rest)


@_call.register_fake
def _(tensors, sizes, key):
    function = _functions[key]
    if function._like is not None:
        return [torch.empty_like(tensors[i]) for i in function._like]
    plan, rest = function._plan_of_sizes(tensors, sizes)
    return plan.fake(tensors, rest)


def _save(ctx, inputs, output):
    tensors, ctx.sizes, ctx.key = inputs
    ctx.save_for_backward(*tensors)
    ctx.is_float = tuple(r.dtype.is_floating_point for r in output)


def _backward(ctx, cotangents):
    tensors, function = list(ctx.saved_tensors), _functions[ctx.key]
    plan, _ = function._plan_of_sizes(tensors, ctx.sizes)
    leaves = [plan.leaf_of(i) for i in range(len(tensors))]
    needed = [i for i, t in enumerate(tensors) if leaves[i] is not None and t.dtype.is_floating_point]
    given = [
        torch.zeros_like(r) if c is None else c
        for c, r, has in zip(cotangents, cotangents, ctx.is_float)
        if has
    ]
    gradient = plan.gradient(tuple(leaves[i] for i in needed), ctx.is_float)
    values = _call(tensors + given, ctx.sizes, gradient.key)
    result = [None] * len(tensors)
    for i, g in zip(needed, values):
        result[i] = g
    # A list without numbers is a tree without leaves for torch.
    return result, None if ctx.sizes else [], None


_call.register_autograd(_backward, setup_context=_save)


class Function:
    """A function of tensors, traced and compiled. `compilations` counts."""

    def __init__(self, function, _like=None, **options):
        self._function, self._options, self._like = function, options, _like
        self._plans = {}
        self.__name__ = getattr(function, "__name__", "function")
        self.__doc__ = function.__doc__
        self.key = f"{self.__name__}#{next(_numbers)}"
        _functions[self.key] = self

    @property
    def compilations(self):
        """How many programs were compiled, those of gradients included."""
        return sum(
            p.compiled.compilations + sum(g.compilations for g in p._gradients.values())
            for p in self._plans.values()
        )

    def _plan(self, structure, kinds, static):
        key = structure, kinds, static
        if key not in self._plans:
            self._plans[key] = _Plan(self._function, self.__name__, structure, kinds, static, self._options)
        return self._plans[key]

    def _plan_of_sizes(self, tensors, sizes):
        """The plan of the custom op, and the rest: two sizes follow each matrix in
        parts; the first is its place among the tensors, negated less one."""
        places = {sizes[i]: tuple(sizes[i + 1 : i + 3]) for i in range(0, len(sizes), 3)}
        kinds, i = [], 0
        rest = []
        while i < len(tensors):
            if i in places:
                kinds.append("parts")
                rest.append(places[i])
                i += 3
            else:
                kinds.append("tensor")
                i += 1
        stars = ["*"] * len(kinds)
        if self._like is not None:
            # Of the leaves, and of the cotangents.
            count = self._leaf_count
            structure = (
                tuple,
                None,
                ((list, None, tuple(stars[:count])), (list, None, tuple(stars[count:]))),
            )
        else:
            structure = (tuple, None, tuple(stars))
        return self._plan((tuple, None, (structure, (dict, (), ()))), tuple(kinds), ()), rest

    def __call__(self, *args, **kwargs):
        if is_tracing():
            return self._function(*args, **kwargs)
        if torch.compiler.is_compiling():
            return self._call_compiled(args, kwargs)
        leaves, structure = _tree.flatten((args, kwargs))
        kinds = tuple(map(_kind, leaves))
        static = tuple(leaf for leaf, kind in zip(leaves, kinds) if kind == "static")
        plan = self._plan(structure, kinds, static)
        tensors, rest = plan.split(leaves)
        if torch.is_autocast_enabled("cpu"):
            # Compiled code computes in f32 what autocast has made narrower.
            tensors = [t.float() if t.dtype in (torch.bfloat16, torch.float16) else t for t in tensors]
        results = _Apply.apply(plan, rest, *tensors)
        return _tree.unflatten(plan.structure, iter(results))

    def _call_compiled(self, args, kwargs):
        tensors, sizes = [], []
        for arg in args:
            if isinstance(arg, CSR):
                sizes += [len(tensors), *arg.shape]
                tensors += [arg.crow, arg.col, arg.values]
            elif isinstance(arg, torch.Tensor):
                tensors.append(arg)
            else:
                raise TypeError("under torch.compile a function takes tensors and CSR(...) alone")
        if kwargs:
            raise TypeError("under torch.compile a function takes no keywords")
        results = _call(tensors, sizes, self.key)
        return results[0] if len(results) == 1 else tuple(results)


def function(f, **options):
    """A function of arrays (`sparse_autograd.numpy`) as one of torch's tensors, with
    gradients. `options` are those of Module.compile.

        @sparse_autograd.torch.function
        def masked_mean(x, m):
            return snp.mean(x, where=m)

        masked_mean(x, mask).backward()
    """
    return Function(f, **options)


from ._torch_modules import GCNConv, MaskedMean, SparseAttention, SparseLinear24  # noqa: E402

__all__ = ["CSR", "GCNConv", "MaskedMean", "SparseAttention", "SparseLinear24", "function"]
