# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of JAX's arrays, dense, BCOO and BCSR, with gradients of all orders.

A function is traced and compiled; for JAX it is a foreign function (jax.ffi) with a
`jax.custom_vjp`, so that `jit`, `grad` and `value_and_grad` take it. It reads the
arrays of JAX and writes results where JAX has allocated them. The compiler says
how the extents of its results follow from those of its arguments, which is what JAX
asks for; results are dense. `vmap` is refused: write the batch in the function.
"""

import functools
import secrets

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from jax.experimental import sparse as jsparse

from . import _core, _tree
from . import numpy as snp
from ._extents import Extents
from ._trace import ArrayType, Format, TraceError, is_tracing
from ._values import element_of
from .transforms import Compiled, trace, vjp

_PARTS = {"dense": 1, "bcoo": 2, "bcsr": 3}
_TARGET = "sparse_autograd.call"
# What the executables of XLA call, as long as the process lives.
_called = []


@functools.cache
def _register():
    jax.ffi.register_ffi_target(_TARGET, _core.xla_handler(), platform="cpu")


def _is_sparse(leaf):
    return isinstance(leaf, (jsparse.BCOO, jsparse.BCSR))


def _take_apart(leaf):
    """(kind, shape of a sparse array, its arrays)."""
    if isinstance(leaf, jsparse.BCSR):
        kind, parts, dense = "bcsr", [leaf.data, leaf.indices, leaf.indptr], leaf.n_dense
    elif isinstance(leaf, jsparse.BCOO):
        kind, parts, dense = "bcoo", [leaf.data, leaf.indices], leaf.n_dense
    else:
        return "dense", None, [jnp.asarray(leaf)]
    if leaf.n_batch or dense:
        raise TypeError(f"a {kind.upper()} array with batch or dense dimensions: give its todense()")
    return kind, tuple(leaf.shape), parts


class _Plan:
    """A function for arguments of one structure and kind: of a list of dense arrays."""

    def __init__(self, function, name, kinds, shapes, gradient_of=None):
        self.kinds, self.shapes, self._gradient_of = kinds, shapes, gradient_of
        self._traced, self._gradient, self._targets = {}, {}, {}

        def flat(*arrays):
            results, self.structure = _tree.flatten(function(*arrays))
            return tuple(results)

        flat.__name__ = self.name = name
        self.function, self.compiled = flat, Compiled(flat, flat, {})
        batched = jax.custom_batching.custom_vmap(self._call)
        batched.def_vmap(self._refuse_vmap)
        self.call = jax.custom_vjp(lambda *parts: batched(*parts))
        # Of itself, so that it is differentiated again.
        self.call.defvjp(lambda *parts: (self.call(*parts), parts), self._backward)

    def _refuse_vmap(self, *_):
        raise TypeError(
            f"vmap of {self.name}: compiled code has no rule for it; write the batch in the "
            "function, or loop with jax.lax.map"
        )

    def leaves(self, parts):
        """The arrays of each argument."""
        given = iter(parts)
        return [[next(given) for _ in range(_PARTS[kind])] for kind in self.kinds]

    def _call(self, *parts):
        shapes = self._results(parts)
        types, extents = self._types(parts)
        target = self._target(tuple(types), shapes)
        if target is None:
            return tuple(jax.pure_callback(self._run, tuple(shapes), *parts))
        _register()
        # The rank and the extents of each sparse argument.
        sparse = [n for kind, shape in zip(self.kinds, extents) if kind != "dense" for n in (len(shape), *shape)]
        call = jax.ffi.ffi_call(_TARGET, tuple(shapes))
        return tuple(call(*parts, id=np.int64(target), extents=np.array([*sparse, 0], np.int64)))

    def _target(self, types, shapes):
        """The number of the entry for these types; None where JAX calls back: a function
        that closes over arrays, whose numbers are those at the time of the call, results
        of a type that JAX has not, and other devices than the CPU."""
        if types not in self._targets:
            program = self.compiled.prepare(types)
            entry = program.compile()
            dtypes = [np.dtype(t.dtype) for t in program.results]
            fits = dtypes == [np.dtype(s.dtype) for s in shapes]
            target = None
            if fits and not program.constants and jax.default_backend() == "cpu":
                target = secrets.randbits(62)
                kinds = lambda values: [
                    "number" if v.shape is None else v.encoding.format if v.encoding else "dense" for v in values
                ]
                entry._handle.add_xla_entry(entry.name, target, kinds(entry.arguments), kinds(entry.results))
                _called.append(entry)
            self._targets[types] = target
        return self._targets[types]

    def _run(self, *parts):
        arrays = []
        for kind, shape, (data, *indices) in zip(
            self.kinds, self.shapes, self.leaves(map(np.asarray, parts))
        ):
            if kind == "dense":
                arrays.append(data)
                continue
            form = sp.coo_array if kind == "bcoo" else sp.csr_array
            matrix = form(shape)
            matrix.data = data
            if kind == "bcoo":
                matrix.coords = tuple(np.ascontiguousarray(i) for i in indices[0].T)
            else:
                matrix.indices, matrix.indptr = indices
            arrays.append(matrix)
        results = self.compiled(*arrays)
        return tuple(np.asarray(r, jax.dtypes.canonicalize_dtype(r.dtype)) for r in results)

    def _results(self, parts):
        """What the results are, for JAX."""
        if self._gradient_of is not None:
            return [jax.ShapeDtypeStruct(parts[i].shape, parts[i].dtype) for i in self._gradient_of]
        types, extents = self._types(parts)
        key = tuple(types)
        if key not in self._traced:
            program = trace(self.function, types)
            self._traced[key] = program, Extents(program)
        program, follow = self._traced[key]
        if any(t.format for t in program.results):
            raise TraceError(
                f"{self.name} returns a sparse array, whose size JAX cannot know: return its todense()"
            )
        return [
            jax.ShapeDtypeStruct(shape, jax.dtypes.canonicalize_dtype(t.dtype))
            for t, shape in zip(program.results, follow(extents))
        ]

    def _types(self, parts):
        """The types of the arguments, and their extents."""
        types, extents = [], []
        for kind, shape, (data, *indices) in zip(self.kinds, self.shapes, self.leaves(parts)):
            if element_of(data.dtype) is None:
                raise TypeError(f"an array of {data.dtype}: give astype(jnp.float32)")
            form = (
                Format({"bcoo": "coo", "bcsr": "csr"}[kind], 8 * indices[0].dtype.itemsize)
                if indices
                else None
            )
            extents.append(tuple(shape or data.shape))
            types.append(
                ArrayType(tuple(1 if n == 1 else None for n in extents[-1]), np.dtype(data.dtype), form)
            )
        return types, extents

    def _backward(self, parts, cotangents):
        has = tuple(jnp.issubdtype(r.dtype, jnp.floating) for r in self._results(parts))
        arguments = self.leaves(parts)
        firsts = [sum(_PARTS[k] for k in self.kinds[:i]) for i in range(len(self.kinds))]
        wanted = tuple(i for i, a in enumerate(arguments) if jnp.issubdtype(a[0].dtype, jnp.floating))
        result = [np.zeros(p.shape, jax.dtypes.float0) for p in parts]
        if wanted and any(has):
            if (wanted, has) not in self._gradient:
                self._gradient[wanted, has] = self._make_gradient(wanted, has, firsts)
            given = [c for c, h in zip(cotangents, has) if h]
            for i, g in zip(wanted, self._gradient[wanted, has].call(*parts, *given)):
                result[firsts[i]] = g
        for i, p in enumerate(parts):
            if (
                jnp.issubdtype(p.dtype, jnp.floating)
                and getattr(result[i], "dtype", None) == jax.dtypes.float0
            ):
                result[i] = jnp.zeros(p.shape, p.dtype)
        return tuple(result)

    def _make_gradient(self, wanted, has, firsts):
        count = len(self.kinds)

        def floats(*arrays):
            return tuple(r for r, h in zip(self.function(*arrays), has) if h)

        def gradients(*arrays):
            _, *values = vjp(floats, wrt=wanted)(*arrays[:count], cotangents=tuple(arrays[count:]))
            return [snp.stored_values(v) if self.kinds[i] != "dense" else v for i, v in zip(wanted, values)]

        n = sum(has)
        return _Plan(
            gradients, f"{self.name}_gradient", self.kinds + ("dense",) * n, self.shapes + (None,) * n,
            [firsts[i] for i in wanted],
        )  # fmt: skip


class Function:
    """A function of JAX's arrays, traced and compiled. `compilations` counts."""

    def __init__(self, function):
        self._function, self._plans = function, {}
        self.__name__ = getattr(function, "__name__", "function")
        self.__doc__ = function.__doc__

    @property
    def compilations(self):
        """How many programs were compiled, those of gradients included."""
        plans, count = list(self._plans.values()), 0
        while plans:
            plan = plans.pop()
            count += plan.compiled.compilations
            plans += plan._gradient.values()
        return count

    def __call__(self, *args):
        if is_tracing():
            return self._function(*args)
        leaves, structure = jax.tree_util.tree_flatten(args, is_leaf=_is_sparse)
        kinds, shapes, parts = [], [], []
        for leaf in leaves:
            kind, shape, arrays = _take_apart(leaf)
            kinds.append(kind), shapes.append(shape), parts.extend(arrays)
        key = structure, tuple(kinds), tuple(shapes)
        if key not in self._plans:
            function = lambda *arrays: self._function(*jax.tree_util.tree_unflatten(structure, arrays))
            self._plans[key] = _Plan(function, self.__name__, key[1], key[2])
        plan = self._plans[key]
        results = plan.call(*parts)
        return _tree.unflatten(plan.structure, iter(results))


def function(f):
    """A function of arrays (`sparse_autograd.numpy`) as one of JAX's arrays.

        @sparse_autograd.jax.function
        def masked_mean(x, m):
            return snp.mean(x, where=m)

        jax.jit(jax.value_and_grad(masked_mean))(x, mask)

    Gradients by BCOO and BCSR arrays are those of `jax.experimental.sparse.grad`.
    """
    return Function(f)


__all__ = ["function"]
