# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""What 2:4 selection keeps, in bits, against NumPy (semantics T1 to T4): every mask
of a group, ties, zeros of both signs, NaNs, infinities, edges of every size, in
every type; its gradients in every mode, and its derivatives of every order."""

import itertools

import numpy as np

import function_tests
import selection24
from execution import FLOATS, Program, finish, same_bits, to_type
from functions import Function
from selection24 import SELECTIONS, choose, gradient

TILED = [s for s in SELECTIONS if s != "row_wise"]
SHAPES = [(2, 8, 12), (1, 7, 9), (3, 2, 3), (1, 1, 1), (1, 4, 5), (2, 5, 4),
          (1, 6, 13), (1, 3, 3), (1, 11, 2), (0, 4, 4), (1, 0, 8), (1, 8, 0)]
MODES = {"dense": "dense", "sparse": "sparse", "ste": "ste",
         "scaled<0.5, 0.25>": (0.5, 0.25), "scaled<1.0, 0.0>": (1.0, 0.0),
         "scaled<0.0, 2.0>": (0.0, 2.0)}


def signalling(element_type):
    """A negative NaN that signals."""
    bits, type_ = {"f64": (0xFFF0000000000001, np.uint64),
                   "f16": (0xFC01, np.uint16)}.get(
                       element_type, (0xFF810000, np.uint32))
    return np.array(bits, type_).view(
        {"f64": np.float64, "f16": np.float16}.get(element_type, np.float32))


def special(rng, shape, element_type, density=0.3):
    """Numbers with many ties, zeros of both signs, NaNs and infinities."""
    array = to_type(rng.integers(-3, 4, shape).astype(np.float64), element_type)
    array[(array == 0) & (rng.random(shape) < 0.5)] = -0.0
    for value in (np.nan, signalling(element_type), np.inf, -np.inf):
        array[rng.random(shape) < density / 4] = value
    return array


def inputs(rng, element_type):
    """Arrays of three dimensions."""
    for shape in SHAPES:
        yield to_type(rng.normal(size=shape), element_type)
        for density in (0.1, 0.6):
            yield special(rng, shape, element_type, density)
    # Every mask of a group, of equal and of different numbers, on every row of
    # a tile.
    masks = np.array(list(itertools.product((0, 1), repeat=4)), float)
    for numbers in ([1, 1, 1, 1], [1, -2, 3, -4], [4, 3, -2, 1]):
        rows = np.concatenate([np.roll(masks, shift, 0) for shift in range(4)])
        yield to_type((rows * numbers)[None], element_type)
    yield to_type(rng.normal(size=(1, 64, 64)), element_type)
    yield special(rng, (1, 64, 64), element_type, 0)


def expected(array, select):
    kept = choose(array, select)
    return np.where(kept, array, np.zeros_like(array))


def selected_values(element_type):
    """Values and transposes, and that selecting again changes nothing."""
    program = Program(f"{element_type}_values")
    rng = np.random.default_rng(1)
    open_type = f"tensor<?x?x?x{element_type}>"
    for select in SELECTIONS:
        results = [open_type] * (1 if select == "row_wise" else 2)
        program.entry(select, [open_type], results + [open_type], f"""
  %y{':2' if len(results) == 2 else ''} = sparse_autograd.sparsify_24 %a0
      select = {select} gradient = dense : {open_type} -> {', '.join(results)}
  %s = sparse_autograd.stop_gradient %y{'#0' if len(results) == 2 else ''} : {open_type}
  %z = sparse_autograd.sparsify_24 %s select = {select} gradient = ste
      : {open_type} -> {open_type}
  return %y{'#0, %y#1' if len(results) == 2 else ''}, %z : {', '.join(results)}, {open_type}""")
        for array in inputs(rng, element_type):
            wanted = expected(array, select)

            def check(*found, wanted=wanted):
                for y in (found[0], found[-1]):
                    same_bits(y, wanted, "value")
                if len(found) == 3:
                    same_bits(found[1], np.swapaxes(wanted, 1, 2), "transpose")
                return wanted.size + 1

            program.call(select, [array], check, str(array.shape))
    return program


def static_values():
    """Known extents, constants and the choice of another tensor."""
    program = Program("static")
    rng = np.random.default_rng(2)
    for select, shape in itertools.product(SELECTIONS,
                                           [(8, 12), (7, 9), (2, 3, 5)]):
        name = f"{select}_{len(shape)}_{shape[0]}"
        array = special(rng, shape, "f32", 0.2)
        type_ = f"tensor<{'x'.join(map(str, shape))}xf32>"
        # A constant is written as bits.
        nested = np.vectorize(lambda b: f"0x{b:08X}", otypes=[object])(
            array.view(np.uint32)).tolist()
        text = str(nested).replace("'", "")
        mask = type_.replace("f32", "f64")
        program.entry(name, [type_, mask], [type_, type_, mask], f"""
  %w = arith.constant dense<{text}> : {type_}
  %c = sparse_autograd.sparsify_24 %w select = {select} gradient = dense
      : {type_} -> {type_}
  %y = sparse_autograd.sparsify_24 %a0 select = {select} gradient = dense
      : {type_} -> {type_}
  %l = sparse_autograd.sparsify_24_like %a1, %y select = {select} gradient = dense
      : {mask}, {type_} -> {mask}
  return %c, %y, %l : {type_}, {type_}, {mask}""")
        other = special(rng, shape, "f64")
        wanted = expected(array, select)
        like = np.where(choose(array, select), other, 0.0)

        def check(constant, y, z, wanted=wanted, like=like):
            return (same_bits(constant, wanted, "constant") +
                    same_bits(y, wanted, "value") + same_bits(z, like, "like"))

        program.call(name, [array, other], check)
    return program


def gradients(element_type):
    """Every mode, of one result or both, forward and reverse, in bits: what is
    pruned may be NaN, in the tensor, the tangent and the cotangent."""
    program = Program(f"{element_type}_gradients")
    rng = np.random.default_rng(3)
    shape, turned = (6, 8), (8, 6)
    x, t = (f"tensor<{'x'.join(map(str, s))}x{element_type}>"
            for s in (shape, turned))
    for select, (mode, scales) in itertools.product(("greedy", "row_wise"),
                                                    MODES.items()):
        name = f"{select}_{list(MODES).index(mode)}"
        both = select != "row_wise"
        results = [x, t] if both else [x]
        program.define(f"""
func.func private @{name}_f(%w: {x}) -> ({', '.join(results)}) {{
  %y{':2' if both else ''} = sparse_autograd.sparsify_24 %w select = {select}
      gradient = {mode} : {x} -> {', '.join(results)}
  return %y{'#0, %y#1' if both else ''} : {', '.join(results)}
}}""")
        cotangents = ", ".join(f"%a{i + 2}" for i in range(len(results)))
        names = "%y, %yt" if both else "%y"
        types = ", ".join(results)
        program.entry(name, [x, x] + results, [x] + results, f"""
  {names}, %dw = sparse_autograd.vjp @{name}_f(%a0) cotangents({cotangents})
      {{wrt = [0]}} : ({x}), ({types}) -> ({types}, {x})
  %p:{2 * len(results)} = sparse_autograd.jvp @{name}_f(%a0) tangents(%a1)
      {{wrt = [0]}} : ({x}), ({x}) -> ({types}, {types})
  return %dw, {', '.join(f'%p#{i + len(results)}' for i in range(len(results)))}
      : {x}, {types}""")
        w = special(rng, shape, element_type, 0.2)
        kept = choose(w, select)
        poison = special(rng, shape, element_type, 1.5)
        numbers = to_type(rng.integers(-4, 5, shape), element_type)
        numbers[numbers == 0] = 1
        g = np.where(kept, numbers, poison)
        direction = np.where(kept, numbers[::-1], poison[:, ::-1])
        g2 = np.where(kept, numbers[:, ::-1], poison[::-1])
        if scales in ("ste", (0.0, 2.0)) or (
                isinstance(scales, tuple) and scales[1]):
            g, g2, direction = numbers, numbers[::-1], numbers[:, ::-1]
        with np.errstate(invalid="ignore"):
            wanted = [gradient(kept, to_type(g + g2 if both else g,
                                             element_type), scales)]
            tangent = gradient(kept, direction, scales)
        wanted += [tangent, tangent.T][:len(results)]

        def check(*found, wanted=wanted):
            return sum(same_bits(a, b, f"result {i}")
                       for i, (a, b) in enumerate(zip(found, wanted)))

        program.call(name, [w, direction, g, np.ascontiguousarray(g2.T)][
            :2 + len(results)], check)
    return program


def checkpointed():
    """The choice is made again, behind a barrier, with the same bits, and the two
    halves of a derivative hand it on."""
    program = Program("checkpointed")
    x = "tensor<?x?xf32>"
    program.define(f"""
func.func private @square(%w: {x}) -> {x} {{
  %y = sparse_autograd.sparsify_24 %w select = greedy gradient = dense : {x} -> {x}
  %z = arith.mulf %y, %y : {x}
  return %z : {x}
}}
func.func private @again(%w: {x}) -> {x} {{
  %y = sparse_autograd.checkpoint @square(%w) : ({x}) -> {x}
  return %y : {x}
}}
sparse_autograd.split_vjp @square as @forward, @backward {{wrt = [0]}}
func.func private @forward({x}) -> ({x}, !sparse_autograd.residuals<@forward>)
func.func private @backward(!sparse_autograd.residuals<@forward>, {x}) -> {x}""")
    program.entry("derivatives", [x, x], [x] * 3, f"""
  %y, %d = sparse_autograd.vjp @square(%a0) cotangents(%a1) {{wrt = [0]}}
      : ({x}), ({x}) -> ({x}, {x})
  %z, %e = sparse_autograd.vjp @again(%a0) cotangents(%a1) {{wrt = [0]}}
      : ({x}), ({x}) -> ({x}, {x})
  %u, %r = func.call @forward(%a0) : ({x}) -> ({x}, !sparse_autograd.residuals<@forward>)
  %f = func.call @backward(%r, %a1) : (!sparse_autograd.residuals<@forward>, {x}) -> {x}
  return %d, %e, %f : {x}, {x}, {x}""")
    rng = np.random.default_rng(4)
    for shape in ((8, 8), (9, 14)):
        w = special(rng, shape, "f32", 0)
        g = rng.normal(size=shape).astype(np.float32)
        kept = choose(w, "greedy")
        wanted = np.where(kept, np.float32(2) * w * g, np.float32(0))

        def check(*found, wanted=wanted):
            return sum(same_bits(np.abs(d), np.abs(wanted)) for d in found)

        program.call("derivatives", [w, g], check)
    return program


def mismatched():
    program = Program("mismatched")
    x = "tensor<?x?xf32>"
    program.entry("like", [x, x], [x], f"""
  %y = sparse_autograd.sparsify_24_like %a0, %a1 select = greedy gradient = dense
      : {x}, {x} -> {x}
  return %y : {x}""")
    program.entry("mask", [x, "index"], ["tensor<?x8xi1>"], f"""
  %s = tensor.cast %a0 : {x} to tensor<?x8xf32>
  %c = sparse_autograd.choose_24 %s select = greedy : tensor<?x8xf32> -> tensor<?x2xi16>
  %y = sparse_autograd.mask_24 %c, [%a1] : tensor<?x2xi16> -> tensor<?x8xi1>
  return %y : tensor<?x8xi1>""")
    a, b = np.ones((8, 8), np.float32), np.ones((4, 8), np.float32)
    program.call("like", [a, b], "must have the extent of")
    program.call("like", [b, a], "must have the extent of")
    program.call("mask", [a, 16], "incompatible with inferred dimension size")
    for rows in (4, 7):
        program.call("mask", [a, rows], lambda y, rows=rows: same_bits(
            y, choose(a, "greedy")[:rows]))
    return program


def norms_kept():
    """Of N(0, 1) greedy keeps at least 98 % of what optimal keeps, which keeps
    what the best of all patterns does."""
    program = Program("norms")
    x = "tensor<?x?xf64>"
    program.entry("both", [x], [x, x], f"""
  %y = sparse_autograd.sparsify_24 %a0 select = greedy gradient = dense : {x} -> {x}
  %z = sparse_autograd.sparsify_24 %a0 select = optimal gradient = dense : {x} -> {x}
  return %y, %z : {x}, {x}""")
    w = np.random.default_rng(5).normal(size=(512, 512))

    def check(greedy, optimal):
        tiles = np.abs(w).reshape(128, 4, 128, 4).swapaxes(1, 2)
        best = np.einsum("ijrc,prc->pij", tiles,
                         selection24.patterns(4, 4)).max(axis=0)
        kept = np.abs(optimal).reshape(128, 4, 128, 4).sum(axis=(1, 3))
        assert np.allclose(kept, best, rtol=1e-14), "not the best pattern"
        ratio = np.abs(greedy).sum() / np.abs(optimal).sum()
        assert 0.98 <= ratio <= 1, f"greedy keeps {ratio} of optimal"
        return best.size + 1

    program.call("both", [w], check)
    return program


# Derivatives of functions, of every order. The derivative of a mirror is its
# imaginary part.

def selects(select, mode):
    def mirror(x):
        kept = choose(np.real(x), select)
        return (np.where(kept, np.real(x), 0) +
                1j * gradient(kept, np.imag(x), mode))
    return mirror


def apart(rng, shapes):
    """Numbers that differ in magnitude by more than a difference quotient moves
    them, with signs."""
    arrays = []
    for shape in shapes:
        size = int(np.prod(shape))
        array = rng.permutation(np.arange(1, size + 1)) / 4
        arrays.append((array * rng.choice((-1, 1), size)).reshape(shape))
    return arrays


X = "<<6x8>>"


def _function(name, select, mode, body, mirror, **more):
    return Function(name, [X], [X], body.replace("SELECT", (
        f"select = {select} gradient = {mode}")), mirror, **more)


def _product(y):
    return y * y * y


FUNCTIONS = [
    _function(f"cube_{select}_{i}", select, mode, f"""
  %y = sparse_autograd.sparsify_24 %x0 SELECT : {X} -> {X}
  %s = arith.mulf %y, %y : {X}
  %z = arith.mulf %s, %y : {X}
  return %z : {X}""", lambda x, f=selects(select, MODES[mode]): _product(f(x)),
              inputs=apart, exact=False,
              second=mode in ("dense", "sparse"))
    for i, (select, mode) in enumerate([
        ("greedy", "dense"), ("optimal", "sparse"), ("row_wise", "dense"),
        ("causal1122", "dense"), ("greedy", "ste"),
        ("row_wise", "scaled<0.5, 0.25>")])
] + [
    Function("root", [X], [X], f"""
  %l = math.sqrt %x0 : {X}
  %y = sparse_autograd.sparsify_24 %l select = greedy gradient = dense : {X} -> {X}
  %z = arith.mulf %y, %x0 : {X}
  return %z : {X}""",
             lambda x: selects("greedy", "dense")(np.sqrt(x)) * x,
             inputs=lambda rng, shapes: [np.abs(a) for a in apart(rng, shapes)],
             exact=False),
    Function("product", [X, "<<5x8>>"], ["<<5x6>>"], f"""
  %y, %t = sparse_autograd.sparsify_24 %x0 select = optimal gradient = dense
      : {X} -> {X}, <<8x6>>
  %k = arith.constant 0 : index
  %s5 = tensor.dim %x1, %k : <<5x8>>
  %s6 = tensor.dim %x0, %k : <<6x8>>
  %e = !empty<<5x6>>
  %o = arith.constant 0.0 : !T
  %i = linalg.fill ins(%o : !T) outs(%e : <<5x6>>) -> <<5x6>>
  %z = linalg.matmul ins(%x1, %t : <<5x8>>, <<8x6>>) outs(%i : <<5x6>>) -> <<5x6>>
  return %z : <<5x6>>""",
             lambda w, x: x @ selects("optimal", "dense")(w).T,
             inputs=apart, exact=False),
    Function("repeated", [X, X], [X], f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %x0) -> ({X}) {{
    %p = arith.mulf %v, %x1 : {X}
    %s = sparse_autograd.sparsify_24_like %p, %x0 select = row_wise gradient = dense
        : {X}, {X} -> {X}
    scf.yield %s : {X}
  }}
  return %y : {X}""",
             lambda x, w: np.where(choose(np.real(x), "row_wise"), x * w * w, 0),
             inputs=apart, exact=False),
]

if __name__ == "__main__":
    finish([selected_values(t) for t in FLOATS] + [static_values()] +
           [gradients(t) for t in FLOATS] +
           [checkpointed(), mismatched(), norms_kept()] +
           function_tests.programs(FUNCTIONS, seed=24))
