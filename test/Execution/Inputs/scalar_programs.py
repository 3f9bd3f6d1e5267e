# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of one scalar rule, and the checks of its value and derivatives."""

import numpy as np

from bounded import Bounded
from execution import close, tensor_type, to_type


# Of all arrays: some vectors and a remainder.
SIZE = 53


def define(program, rule, name, element_type, masked=False):
    """The entry (operands, g, tangents) -> (y, gradients, tangent). If `masked`,
    a last argument is an i1 for each element: where it is 0, y is 0."""
    t = tensor_type((SIZE,), element_type)
    m = tensor_type((SIZE,), "i1")
    n = rule.arity
    operands = [f"%x{i}" for i in range(n)]
    parameters = [f"%x{i}: {t}" for i in range(n)]
    primal = [f"%a{i}" for i in range(n)]
    types = [t] * n
    select = ""
    if masked:
        parameters.append(f"%m: {m}")
        primal.append(f"%a{2 * n + 1}")
        types.append(m)
        select = f"""
  %zero = arith.constant dense<0.0> : {t}
  %y = arith.select %m, %f, %zero : {m}, {t}"""
    program.define(f"""
func.func private @{name}_f({', '.join(parameters)}) -> {t} {{
  {"%f" if masked else "%y"} = {rule.text(operands)} : {t}{select}
  return %y : {t}
}}""")
    types, primal = ", ".join(types), ", ".join(primal)
    tangents = ", ".join(f"%a{n + 1 + i}" for i in range(n))
    wrt = ", ".join(map(str, range(n)))
    program.entry(name, [t] * (2 * n + 1) + [m] * masked, [t] * (n + 2), f"""
  %r:{n + 1} = sparse_autograd.vjp @{name}_f({primal}) cotangents(%a{n}) {{wrt = [{wrt}]}}
      : ({types}), ({t}) -> ({', '.join([t] * (n + 1))})
  %z, %ty = sparse_autograd.jvp @{name}_f({primal}) tangents({tangents}) {{wrt = [{wrt}]}}
      : ({types}), ({', '.join([t] * n)}) -> ({t}, {t})
  return {', '.join(f'%r#{i}' for i in range(n + 1))}, %ty : {', '.join([t] * (n + 2))}""")


def call_smooth(program, rule, name, element_type, rng, masked=False):
    """Random points and the further ones: within the bounds."""
    columns = [rng.uniform(low, high, size=SIZE - len(rule.points))
               for low, high in rule.intervals]
    for point in rule.points:
        columns = [np.append(c, v) for c, v in zip(columns, point)]
    x = [to_type(c, element_type) for c in columns]
    g = to_type(rng.uniform(0.5, 2, size=x[0].shape), element_type)
    t = [to_type(rng.uniform(0.5, 2, size=x[0].shape), element_type) for _ in x]
    leaves = [Bounded(v, 0, element_type) for v in x]
    exact = rule.value(*[v.value for v in leaves])
    result = Bounded(exact, 0, element_type)
    result = result._rounded(exact, 0, rule.roundings)
    partials = rule.partials(*leaves, result)
    gradients = [Bounded(g, 0, element_type) * p for p in partials]
    tangent = sum((Bounded(v, 0, element_type) * p
                   for v, p in zip(t[1:], partials[1:])),
                  Bounded(t[0], 0, element_type) * partials[0])
    masks = []
    if masked:
        masks = [rng.random(SIZE) < 0.6]
        result, tangent, *gradients = (
            b.where(masks[0]) for b in (result, tangent, *gradients))

    def check(y, *rest):
        count = close(y, result.value, result.allowance(), "value")
        for i, (actual, expected) in enumerate(zip(rest, gradients)):
            count += close(actual, expected.value, expected.allowance(),
                           f"gradient {i}")
        return count + close(rest[-1], tangent.value, tangent.allowance(),
                             "tangent")

    program.call(name, [*x, g, *t, *masks], check)


def call_kinks(program, rule, name, element_type):
    """Where the op is not smooth the derivative is what the rule states."""
    if not rule.kinks:
        return
    kinks = [rule.kinks[i % len(rule.kinks)] for i in range(SIZE)]
    x = [np.array([at[i] for at, _ in kinks]) for i in range(rule.arity)]
    partials = [np.array([p[i] for _, p in kinks], float)
                for i in range(rule.arity)]
    finite = np.all(np.isfinite(partials), axis=0)
    with np.errstate(all="ignore"):
        exact = rule.value(*[v.astype(np.longdouble) for v in x])
    bound = Bounded(exact, 0, element_type)._rounded(exact, 0, rule.roundings)
    ones = np.ones(len(x[0]))
    for direction in range(rule.arity):
        t = [ones * (i == direction) for i in range(rule.arity)]

        def check(y, *rest, direction=direction):
            count = close(y, exact, bound.allowance(), "value at a kink")
            count += sum(close(actual, expected, 0, f"gradient {i} at a kink")
                         for i, (actual, expected) in enumerate(
                             zip(rest, partials)))
            return count + close(rest[-1][finite],
                                 partials[direction][finite], 0,
                                 "tangent at a kink")

        program.call(name, [*x, ones, *t], check)
