# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env SPARSE_AUTOGRAD_DEVICE=emulated:13 %python %s
"""Contractions of every form, in tiles where they are large: several matrices along
any dimension, several dimensions of rows, columns and terms, scaled, with weights of
rows, columns and elements, subtracted, from zeros or from what there was, of f32 and
bf16, rounded or not, two of the same factor, and their derivatives. Factors are small
integers, so that sums are exact in any order."""

import numpy as np

from execution import Program, finish, same_bits, to_type

RANDOM = np.random.default_rng(20261124)
# Einsums: matrices, batches, a linear layer on batch x sequence x features and the
# gradient of its weights, the scores and the values of attention, batches that run
# fastest, a result that is stored the other way round, heads that are split.
FORMS = ("ik,kj->ij", "zik,zkj->zij", "zik,kj->zij", "zik,zij->kj", "zihk,zjhk->zhij",
         "zhij,zjhk->zihk", "ikz,kjz->ijz", "ik,jk->ji", "ik,khj->ihj", "hik,hkj->ij")
LARGE = {"i": 40, "j": 36, "k": 33, "z": 3, "h": 2}
SMALL = {"i": 40, "j": 5, "k": 33, "z": 2, "h": 3}
MANY = {"i": 33, "j": 64, "k": 32, "z": 2, "h": 34}


def tensor(names, type_, extents=None):
    sizes = "x".join(str(extents[name]) if extents else "?" for name in names)
    return f"tensor<{sizes}x{type_}>"


def contraction(form, types, out, extents=None, scale=None, subtracts=False, weights=()):
    """One generic on %a0 and %a1, and weights from %a3 on, added to `out`."""
    narrow, wide = types
    left, right, result = form.replace("->", ",").split(",")
    loops = sorted(set(left + right))
    maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(names)})>"
                     for names in (left, right, *weights, result))
    iterators = ", ".join('"parallel"' if name in result else '"reduction"' for name in loops)
    body = "" if narrow == wide else f"""
      %u = arith.extf %x : {narrow} to {wide}
      %v = arith.extf %y : {narrow} to {wide}"""
    factors = "%x, %y" if narrow == wide else "%u, %v"
    body += f"\n      %m = arith.mulf {factors} : {wide}"
    term = "%m"
    if scale is not None:
        body += f"\n      %q = arith.mulf %m, %scale : {wide}"
        term = "%q"
    for number in range(len(weights)):
        weight = f"%w{number}"
        if narrow != wide:
            body += f"\n      %e{number} = arith.extf {weight} : {narrow} to {wide}"
            weight = f"%e{number}"
        body += f"\n      %g{number} = arith.mulf {weight}, {term} : {wide}"
        term = f"%g{number}"
    operation = "subf" if subtracts else "addf"
    inputs = [tensor(names, narrow, extents) for names in (left, right, *weights)]
    values = ["%a0", "%a1"] + [f"%a{3 + number}" for number in range(len(weights))]
    blocks = "".join(f", %w{number}: {narrow}" for number in range(len(weights)))
    constant = f"\n  %scale = arith.constant {scale} : {wide}" if scale is not None else ""
    type_ = tensor(result, wide, extents)
    return constant + f"""
  %p = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
      ins({", ".join(values)} : {", ".join(inputs)})
      outs({out} : {type_}) {{
    ^bb0(%x: {narrow}, %y: {narrow}{blocks}, %s: {wide}):{body}
      %t = arith.{operation} %s, {term} : {wide}
      linalg.yield %t : {wide}
  }} -> {type_}"""


def rounded(names, wide, narrow, extents=None):
    """%r: %p in the narrow type."""
    return f"""
  %r = arith.truncf %p : {tensor(names, wide, extents)} to {tensor(names, narrow, extents)}"""


def add(program, entry, form, types, extents=None, **options):
    narrow, wide = types
    left, right, result = form.replace("->", ",").split(",")
    arguments = [tensor(left, narrow, extents), tensor(right, narrow, extents),
                 tensor(result, wide, extents)]
    arguments += [tensor(names, narrow, extents) for names in options.get("weights", ())]
    body = contraction(form, types, "%a2", extents, **options)
    if narrow == wide:
        program.entry(entry, arguments, [arguments[2]], body + f"""
  return %p : {arguments[2]}""")
    else:
        other = tensor(result, narrow, extents)
        program.entry(entry, arguments, [arguments[2], other],
                      body + rounded(result, wide, narrow, extents) + f"""
  return %p, %r : {arguments[2]}, {other}""")


def integers(names, extents, type_):
    return to_type(RANDOM.integers(-2, 3, [extents[name] for name in names]), type_)


def call(program, entry, form, types, extents, scale=None, subtracts=False, weights=()):
    narrow, wide = types
    left, right, result = form.replace("->", ",").split(",")
    a, b = integers(left, extents, narrow), integers(right, extents, narrow)
    c = integers(result, extents, wide)
    factors = [integers(names, extents, narrow) for names in weights]
    product = np.einsum(",".join((left, right, *weights)) + "->" + result,
                        *(each.astype(np.float64) for each in (a, b, *factors)))
    factor = (1 if scale is None else scale) * (-1 if subtracts else 1)
    exact = c + factor * product

    def check(*results):
        return sum(same_bits(got + 0, to_type(exact, type_) + 0, name) for got, type_, name in
                   zip(results, (wide, narrow), ("sum", "rounded")))

    program.call(entry, [a, b, c, *factors], check, f"{extents}")


def add_derivative(program, entry, form, narrow, extents):
    """Both gradients of a contraction from zeros, of fixed extents, as of two products
    that share the cotangent."""
    left, right, result = form.replace("->", ",").split(",")
    a, b, y = (tensor(names, narrow, extents) for names in (left, right, result))
    wide = tensor(result, "f32", extents)
    body = contraction(form, (narrow, "f32"), "%n", extents)
    end = "return %p" if narrow == "f32" else rounded(result, "f32", narrow, extents) + "\n  return %r"
    program.define(f"""func.func private @of_{entry}(%a0: {a}, %a1: {b}) -> {y} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {wide}
  %n = linalg.fill ins(%zero : f32) outs(%e : {wide}) -> {wide}{body}
  {end} : {y}
}}
""")
    program.entry(entry, [a, b, y], [y, a, b], f"""
  %y, %da, %db = sparse_autograd.vjp @of_{entry}(%a0, %a1) cotangents(%a2) {{wrt = [0, 1]}}
      : ({a}, {b}), ({y}) -> ({y}, {a}, {b})
  return %y, %da, %db : {y}, {a}, {b}""")


def call_derivative(program, entry, form, narrow, extents):
    left, right, result = form.replace("->", ",").split(",")
    a, b, y = (integers(names, extents, narrow) for names in (left, right, result))
    wide = [x.astype(np.float64) for x in (a, b, y)]
    exact = (np.einsum(form, wide[0], wide[1]),
             np.einsum(f"{result},{right}->{left}", wide[2], wide[1]),
             np.einsum(f"{left},{result}->{right}", wide[0], wide[2]))

    def check(*results):
        return sum(same_bits(got + 0, to_type(each, narrow) + 0, name)
                   for got, each, name in zip(results, exact, ("result", "left", "right")))

    program.call(entry, [a, b, y], check, f"{extents}")


def main():
    program = Program("contractions", 0)
    for types in (("f32", "f32"), ("bf16", "f32")):
        for number, form in enumerate(FORMS):
            entry = f"form_{number}_{types[0]}"
            add(program, entry, form, types)
            for extents in (LARGE, SMALL):
                call(program, entry, form, types, extents)
            # Known extents, of which one matrix has the larger dimension of a kind.
            add(program, f"{entry}_fixed", form, types, MANY)
            call(program, f"{entry}_fixed", form, types, MANY)
        for name, options in (("scaled", {"scale": 0.5}), ("less", {"subtracts": True}),
                              ("step", {"scale": 4.0, "subtracts": True}),
                              ("weighted", {"weights": ("i", "zj")}),
                              ("weighted_step", {"weights": ("zij",), "scale": 0.5,
                                                 "subtracts": True})):
            add(program, f"{name}_{types[0]}", "zik,zkj->zij", types, **options)
            call(program, f"{name}_{types[0]}", "zik,zkj->zij", types, LARGE, **options)
        square = dict.fromkeys("ijk", 48)
        for name, form, extents in (("layer", "zik,kj->zij", LARGE),
                                    ("square", "ik,kj->ij", square)):
            entry = f"derivative_{name}_{types[0]}"
            add_derivative(program, entry, form, types[0], extents)
            call_derivative(program, entry, form, types[0], extents)
    finish([program])


main()
