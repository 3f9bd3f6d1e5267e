# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions whose derivative the program states."""

from . import _tree
from ._functions import begin_inner, emit_call, same_types
from ._structured import full
from ._trace import Array, TraceError, begin, constant_arrays, current, inside, type_of
from .transforms import Compiled
from ._values import is_float


class custom_vjp(Compiled):
    """A function with a derivative of its own, as a decorator.

        @sa.custom_vjp
        def clipped(x, bound):            # x, whose gradient is clipped
            return x

        clipped.defvjp(
            lambda x, bound: (x, bound),
            lambda bound, g: (snp.clip(g, -bound, bound), snp.zeros_like(bound)))

    `forward(*arguments)` returns the result and the residuals, a tree of arrays;
    `backward(residuals, cotangents)` a gradient for each argument, None for one
    without floats. Cotangents have the structure of the result, with None for what is
    no float. `backward` is linear in the cotangents; the pair is trusted (semantics
    M4). The functions may use numbers from outside; arrays of floats that are traced
    are arguments, so that they have gradients.
    """

    def __init__(self, function):
        super().__init__(function, self._write, {})
        self._pair = None

    def defvjp(self, forward, backward):
        """States the derivative; returns the function."""
        self._pair = forward, backward
        return self

    def _write(self, *args):
        if self._pair is None:
            raise TraceError(f"custom_vjp: {self._name} has no derivative yet: call its defvjp")
        f = current()
        leaves, structure = _tree.flatten(args)
        arrays = [a for a in leaves if type_of(a) is not None]
        callee, results, shape = begin_inner(self._function, args)
        arrays = [_array(a) for a in arrays]
        forward, given, residuals = _begin_forward(self._pair[0], args, results, shape)
        floats = [r for r in results if is_float(r.dtype)]
        types = [r.type for r in residuals[0]] + [r.type for r in floats]
        backward = begin(
            f.program,
            f"{self._name}_backward",
            types,
            lambda a: (_gradients(self._pair[1], a, residuals, results, shape, args), None),
            f,
        )
        self._finish(f, (callee, results), (forward, given), backward[:2], len(residuals[0]))
        outside = [*arrays, *(v for v, _ in callee.captured)]
        words = (
            f"({', '.join(f.use(x) for x in outside)}) forward(@{forward.name}) backward(@{backward[0].name})"
        )
        values = emit_call("custom_vjp", callee.name, words, outside, [r.type for r in results])
        return _tree.unflatten(shape, iter(values))

    def _finish(self, f, callee, forward, backward, residual_count):
        """Ends the three functions. What they use from outside is an argument of the
        callee and of the forward function, and a residual."""
        used = []
        for function, _ in (callee, forward, backward):
            for value, _ in function.captured:
                if all(value is not u for u in used):
                    used.append(value)
        known = constant_arrays()
        for value in used:
            if is_float(value.dtype) and all(value is not k for k in known):
                raise TraceError(
                    f"custom_vjp: {self._name} uses an array of floats from outside, {value.type}, "
                    "which would have no gradient: give it as an argument, or stop_gradient(x)"
                    " where it is made and as an argument"
                )
        for function, _ in (callee, forward, backward):
            with inside(function):
                for value in used:
                    function.use(value)
            function.captured.sort(key=lambda pair: next(i for i, u in enumerate(used) if u is pair[0]))
        function, results = callee
        with inside(function):
            function.finish(results)
        function, results = forward
        with inside(function):
            function.finish([*results, *(argument for _, argument in function.captured)])
        function, gradients = backward
        with inside(function):
            taken = [argument for _, argument in function.captured]
            gradients = [*gradients, *(full(t, 0) for t in taken if is_float(t.dtype))]
            function.arguments[residual_count:residual_count] = taken
            function.captured = []
            function.finish(gradients)


def _array(value):
    from ._structured import array

    return array(value)


def _begin_forward(forward, args, results, shape):
    """The forward function: (function, its results and residuals, (residual arrays,
    where they are, their structure))."""
    state = {}

    def run(*arguments):
        pair = forward(*arguments)
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TraceError("custom_vjp: the forward function returns a pair: the result, and the residuals")
        leaves, structure = _tree.flatten(pair[1])
        state["structure"] = structure
        state["static"] = [leaf if type_of(leaf) is None else None for leaf in leaves]
        state["is_array"] = [type_of(leaf) is not None for leaf in leaves]
        state["shape"] = _tree.flatten(pair[0])[1]
        return pair[0], [leaf for leaf in leaves if type_of(leaf) is not None]

    run.__name__ = "forward"
    function, given, _ = begin_inner(run, args)
    if state["shape"] != shape:
        raise TraceError("custom_vjp: the forward function returns a result of another structure")
    count = len(results)
    with inside(function):
        values = same_types(results, given[:count], "custom_vjp: results of the forward function")
    residuals = given[count:]
    return function, [*values, *residuals], (residuals, state)


def _gradients(backward, arrays, residuals, results, shape, args):
    """What the backward function returns, an array for each argument of floats."""
    taken, state = residuals
    given = iter(arrays)
    residual = iter([next(given) for _ in taken])
    leaves = [next(residual) if is_array else s for is_array, s in zip(state["is_array"], state["static"])]
    cotangents = [next(given) if is_float(r.dtype) else None for r in results]
    gradients = backward(
        _tree.unflatten(state["structure"], iter(leaves)), _tree.unflatten(shape, iter(cotangents))
    )
    if len(args) == 1 and (
        not isinstance(gradients, tuple) or isinstance(args[0], tuple) and len(gradients) != 1
    ):
        gradients = (gradients,)
    if not isinstance(gradients, (tuple, list)) or len(gradients) != len(args):
        raise TraceError(
            f"custom_vjp: the backward function returns {len(args)} gradients, one for each argument"
        )
    values = []
    for i, (arg, gradient) in enumerate(zip(args, gradients)):
        wanted, structure = _tree.flatten(arg)
        wanted = [w for w in wanted if type_of(w) is not None]
        if not any(is_float(type_of(w).dtype) for w in wanted):
            continue
        leaves, given_structure = _tree.flatten(gradient)
        if given_structure != structure:
            raise TraceError(
                f"custom_vjp: the gradient of argument {i} has another structure than the argument; "
                "where nothing is to flow back, give zeros_like"
            )
        for w, g in zip(wanted, leaves):
            if is_float(type_of(w).dtype):
                stand_in = Array(None, "", type_of(w))
                values += same_types([stand_in], [_array(g)], f"custom_vjp: the gradient of argument {i}")
    return values
