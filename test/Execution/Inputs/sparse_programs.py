# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of ops on sparse and dense square matrices in random formats,
each written in MLIR and computed in NumPy."""

import collections
from dataclasses import dataclass

import numpy as np

from sparse_functions import (FORMATS, WIDTHS, SparseFunction, Variant, closure)
from sparse_masked_tables import masked
from sparse_tables import generic

KINDS = ("unary", "alike", "mixed", "matmul", "sample", "convert", "softmax",
         "scaled", "transpose", "dense", "selected", "exp", "reduced",
         "rolled", "reshaped", "inserted", "grown", "branched")
ELEMENTWISE = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply}
UNARY = {"tanh": np.tanh, "sin": np.sin, "negf": np.negative}


@dataclass
class Node:
    """A value: its place among encodings, if sparse, and what computes it from
    those before it: (values, masks) to (value, mask)."""
    place: str
    compute: object = None


class RandomProgram:
    """A list of ops, each of which is written in MLIR and computed in NumPy."""

    def __init__(self, seed, met=None):
        """`met` counts kinds of ops in formats so far. What has been met least
        is drawn, and counted there."""
        self.rng = np.random.default_rng([29, seed])
        self.met = collections.Counter() if met is None else met
        self.formats = self.draw_formats()
        self.encodings, self.names = {}, {}
        for place, name in self.formats.items():
            widths = WIDTHS[self.rng.integers(len(WIDTHS))]
            self.encodings[place] = FORMATS[2][name].with_widths(*widths)
            self.names[place] = f"{name}_{widths[0]}_{widths[1]}"
        third = str(self.rng.choice(["A", "R"]))
        self.leaves = [Node("A"), Node("B"), Node(third), Node(""), Node("")]
        self.nodes, self.lines = list(self.leaves), []
        self.read, self.reshaped, self.closures = set(), {}, {}
        for number in range(self.rng.integers(6, 12)):
            # Now and then of one kind with the op before.
            if number == 0 or self.rng.random() < 0.9:
                self.kind = self.rarest(self.formats.values())[0]
            self.add_op()
        # So no op is dead.
        self.results = [i for i in range(len(self.leaves), len(self.nodes))
                        if i not in self.read]

    def rarest(self, formats):
        """The kind and the format that have been met least."""
        pairs = [(kind, name) for kind in KINDS for name in formats]
        pairs = self.rng.permutation(pairs).tolist()
        return min(pairs, key=lambda pair: self.met[tuple(pair)])

    def draw_formats(self):
        """By place: one of the rarest pair, and two others met little."""
        total = {name: sum(self.met[kind, name] for kind in KINDS)
                 for name in self.rng.permutation(list(FORMATS[2])).tolist()}
        first = self.rarest(total)[1]
        others = sorted((n for n in total if n != first), key=total.get)
        names = self.rng.permutation([first, *others[:2]]).tolist()
        return dict(zip("ABR", names))

    def choose(self, places):
        """One of them, rather one whose format this kind of op has met least
        and that it has not to do with yet."""
        fresh = [p for p in places if p and p not in self.touched]
        if fresh and self.rng.random() < 0.85:
            fresh = self.rng.permutation(fresh).tolist()
            place = min(fresh, key=lambda p: self.met[self.kind,
                                                      self.formats[p]])
        else:
            place = str(self.rng.choice(places))
        self.touched.add(place)
        return place

    def pick(self, sparse=None):
        """The number of a node, late ones more often."""
        if sparse is None:  # Dense ones have no formats.
            sparse = self.rng.random() < 0.75
        place = self.choose(sorted({node.place for node in self.nodes
                                    if bool(node.place) == sparse}))
        return self.pick_of(place)

    def pick_of(self, place):
        """The number of a node there, rather one that no op reads."""
        numbers = [i for i, node in enumerate(self.nodes)
                   if node.place == place]
        unread = [i for i in numbers if i not in self.read]
        if unread and self.rng.random() < 0.6:
            numbers = unread
        number = numbers[int(self.rng.random() ** 0.5 * len(numbers))]
        self.read.add(number)
        return number

    def pick_result(self, dense=True):
        """The place of a result, which may be dense."""
        if dense and self.rng.random() < 0.2:
            return ""
        return self.choose(["A", "B", "R"])

    def type(self, number, element=""):
        place = self.nodes[number].place
        text = "nn" + (f"#{place}" if place else "")
        return f"<<{text}{'|' + element if element else ''}>>"

    def name(self, number):
        return f"%x{number}" if number < len(self.leaves) else f"%v{number}"

    def emit(self, place, text, compute):
        """`text` has ! for the name of the new value and @ for its type."""
        number = len(self.nodes)
        self.nodes.append(Node(place, compute))
        self.lines.append(text.replace("!", self.name(number)).replace(
            "@", self.type(number)))

    def closed(self, mask, place):
        if not place:
            return None
        # A program is computed many times on one pattern.
        key = place, mask.shape, mask.tobytes()
        if key not in self.closures:
            self.closures[key] = closure(mask, self.encodings[place])
        return self.closures[key]

    def add_op(self):
        self.touched = set()
        getattr(self, f"add_{self.kind}")()
        # A dense op has to do with no format, and counts for all.
        places = self.touched | {self.nodes[-1].place}
        for place in "ABR" if self.kind == "dense" else places:
            if place:
                self.met[self.kind, self.formats[place]] += 1

    def add_unary(self):
        op = self.rng.choice(list(UNARY))
        i = self.pick()
        dialect = "arith" if op == "negf" else "math"
        self.emit(self.nodes[i].place,
                  f"  ! = {dialect}.{op} {self.name(i)} : @",
                  lambda v, m: (UNARY[op](v[i]), m[i]))

    def add_alike(self):
        """Two of one type, perhaps of one pattern."""
        i = self.pick()
        place = self.nodes[i].place
        j = self.pick_of(place)
        op = self.rng.choice(list(ELEMENTWISE))

        def compute(v, m):
            if not place:
                return ELEMENTWISE[op](v[i], v[j]), None
            return ELEMENTWISE[op](v[i], v[j]), (
                m[i] & m[j] if op == "mulf" else m[i] | m[j])
        self.emit(place, f"  ! = arith.{op} {self.name(i)}, {self.name(j)} : @",
                  compute)

    def add_mixed(self):
        i, j = self.pick(), self.pick()
        op = self.rng.choice(list(ELEMENTWISE))
        both = bool(self.nodes[i].place) and bool(self.nodes[j].place)
        either = self.nodes[i].place or self.nodes[j].place
        place = ""
        if both or (either and op == "mulf"):
            place = self.pick_result()
        number = len(self.nodes)
        turned = self.rng.random() < 0.3
        result = "nn" + (f"#{place}" if place else "")
        text = f"  %e{number} = empty <<{result}>>" + generic(
            "ij,ji->ij" if turned else "ij,ij->ij", "ij",
            [(self.name(k), self.type(k)[2:-2]) for k in (i, j)],
            (f"%e{number}", result), self.name(number), f"""
    %s = arith.{op} %b0, %b1 : f64
    linalg.yield %s : f64""")

        def compute(v, m):
            right = v[j].T if turned else v[j]
            other = m[j] if m[j] is None or not turned else m[j].T
            mask = None
            if place:
                mine, yours = (np.ones(right.shape, bool) if k is None else k
                               for k in (m[i], other))
                mask = self.closed(mine & yours if op == "mulf" else
                                   mine | yours, place)
            return ELEMENTWISE[op](v[i], right), mask
        self.emit(place, text, compute)

    def add_matmul(self):
        i, j = self.pick(), self.pick()
        both = bool(self.nodes[i].place) and bool(self.nodes[j].place)
        place = self.pick_result() if both else ""
        number = len(self.nodes)
        made = "empty" if place else "zeros"
        result = "nn" + (f"#{place}" if place else "")
        text = (f"  %e{number} = {made} <<{result}>>\n"
                f"  ! = linalg.matmul ins({self.name(i)}, {self.name(j)} : "
                f"{self.type(i)}, {self.type(j)}) outs(%e{number} : @) -> @")

        def compute(v, m):
            mask = None
            if place:
                mask = self.closed((m[i].astype(int) @ m[j].astype(int)) > 0,
                                   place)
            return v[i] @ v[j], mask
        self.emit(place, text, compute)

    def add_sample(self):
        i, j = self.pick(), self.pick(True)

        def compute(v, m):
            return np.where(m[j], v[i], 0), m[j]
        self.emit(self.nodes[j].place,
                  f"  ! = sparse_autograd.sample {self.name(i)}, "
                  f"{self.name(j)} : {self.type(i)}, {self.type(j)} -> @",
                  compute)

    def add_convert(self):
        i = self.pick(True)
        place = self.nodes[i].place
        while place == self.nodes[i].place:
            place = self.pick_result()

        def compute(v, m):
            return v[i], self.closed(m[i], place)
        self.emit(place, f"  ! = sparse_tensor.convert {self.name(i)} : "
                  f"{self.type(i)} to @", compute)

    def add_softmax(self):
        i = self.pick(True)
        kind = self.rng.choice(["masked_softmax", "masked_log_softmax"])
        dims = ((0,), (1,), (0, 1))[self.rng.integers(3)]
        number = len(self.nodes)
        text = (f"  %m{number} = sparse_autograd.pattern {self.name(i)} : "
                f"{self.type(i)}\n"
                f"  ! = sparse_autograd.{kind} {self.name(i)}, %m{number} "
                f"dims = {list(dims)} : {self.type(i)}, {self.type(i, 'i1')}")

        def compute(v, m):
            size = len(v[i])
            return masked(kind, v[i], m[i], dims)[:size, :size], m[i]
        self.emit(self.nodes[i].place, text, compute)

    def add_scaled(self):
        """By the sums of rows or columns of another."""
        i, j = self.pick(), self.pick()
        axis = int(self.rng.integers(2))
        letter = "ji"[axis]
        number, place = len(self.nodes), self.nodes[i].place
        result = "nn" + (f"#{place}" if place else "")
        order = "iJ" if letter == "i" else "jI"
        text = f"  %z{number} = zeros <<n>>" + generic(
            f"ij->{letter}", order, [(self.name(j), self.type(j)[2:-2])],
            (f"%z{number}", "n"), f"%s{number}", """
    %s = arith.addf %o, %b0 : f64
    linalg.yield %s : f64""") + f"\n  %e{number} = empty <<{result}>>" + generic(
        f"ij,{letter}->ij", "ij", [(self.name(i), self.type(i)[2:-2]),
                                   (f"%s{number}", "n")],
        (f"%e{number}", result), self.name(number), """
    %s = arith.mulf %b0, %b1 : f64
    linalg.yield %s : f64""")

        def compute(v, m):
            sums = v[j].sum(1 if letter == "i" else 0)
            return v[i] * (sums[:, None] if letter == "i" else sums), m[i]
        self.emit(place, text, compute)

    def add_transpose(self):
        i = self.pick(True)
        place = self.pick_result()
        number = len(self.nodes)
        result = "nn" + (f"#{place}" if place else "")
        text = (f"  %e{number} = empty <<{result}>>\n  ! = linalg.transpose "
                f"ins({self.name(i)} : {self.type(i)}) outs(%e{number} : @) "
                f"permutation = [1, 0]")
        self.emit(place, text,
                  lambda v, m: (v[i].T, self.closed(m[i].T, place)))

    def add_dense(self):
        i, j = self.pick(False), self.pick(False)
        self.emit("", f"  %t{len(self.nodes)} = math.tanh {self.name(i)} : @\n"
                  f"  ! = arith.mulf %t{len(self.nodes)}, {self.name(j)} : @",
                  lambda v, m: (np.tanh(v[i]) * v[j], None))

    def add_selected(self):
        """Where another stores something."""
        i, j = self.pick(), self.pick(True)
        place = self.pick_result()
        number = len(self.nodes)
        result = "nn" + (f"#{place}" if place else "")
        text = f"""  %m{number} = sparse_autograd.pattern {self.name(j)} : {self.type(j)}
  %c{number} = arith.constant 0.0 : f64
  %e{number} = empty <<{result}>>
  ! = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}} ins(%m{number}, {self.name(i)} : {self.type(j, 'i1')}, {self.type(i)}) outs(%e{number} : @) {{
  ^bb0(%b0: i1, %b1: f64, %o: f64):
    %s = arith.select %b0, %b1, %c{number} : f64
    linalg.yield %s : f64
  }} -> @"""

        def compute(v, m):
            mine = m[j] if m[i] is None else m[j] & m[i]
            return np.where(m[j], v[i], 0), self.closed(mine, place)
        self.emit(place, text, compute)

    def add_exp(self):
        """Of what is stored, which an exponential of zero is not."""
        i = self.pick(True)
        number, place = len(self.nodes), self.nodes[i].place
        text = f"""  %m{number} = sparse_autograd.pattern {self.name(i)} : {self.type(i)}
  %c{number} = arith.constant 0.0 : f64
  %e{number} = empty <<nn#{place}>>
  ! = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}} ins(%m{number}, {self.name(i)} : {self.type(i, 'i1')}, {self.type(i)}) outs(%e{number} : @) {{
  ^bb0(%b0: i1, %b1: f64, %o: f64):
    %h = math.tanh %b1 : f64
    %x = math.exp %h : f64
    %s = arith.select %b0, %x, %c{number} : f64
    linalg.yield %s : f64
  }} -> @"""
        self.emit(place, text, lambda v, m: (
            np.where(m[i], np.exp(np.tanh(v[i])), 0), m[i]))

    def add_reduced(self):
        """Of the stored or of the selected, spread over another."""
        i, j = self.pick(), self.pick()
        mask = i if self.nodes[i].place else self.pick(True)
        kind = self.rng.choice(["sum", "mean", "var"])
        axis = int(self.rng.integers(2))
        letter = "ji"[axis]
        number, place = len(self.nodes), self.nodes[j].place
        result = "nn" + (f"#{place}" if place else "")
        text = f"""  %m{number} = sparse_autograd.pattern {self.name(mask)} : {self.type(mask)}
  %s{number} = sparse_autograd.masked_reduce {kind} {self.name(i)}, %m{number} dims = [{axis}] : {self.type(i)}, {self.type(mask, 'i1')} -> <<n>>
  %e{number} = empty <<{result}>>""" + generic(
            f"ij,{letter}->ij", "ij", [(self.name(j), self.type(j)[2:-2]),
                                       (f"%s{number}", "n")],
            (f"%e{number}", result), self.name(number), """
    %s = arith.mulf %b0, %b1 : f64
    linalg.yield %s : f64""")

        def compute(v, m):
            size = len(v[i])
            sums = masked(kind, v[i], m[mask], (axis,))
            sums = sums[:size] if axis == 1 else sums[:, :size]
            return v[j] * sums, m[j]
        self.emit(place, text, compute)

    def extents(self, number):
        """Half of the rows, at most one, and what is left of them."""
        return f"""  %two{number} = arith.constant 2 : index
  %half{number} = arith.divui %d_n, %two{number} : index
  %one{number} = arith.constant 1 : index
  %first{number} = arith.minui %d_n, %one{number} : index
  %rest{number} = arith.subi %d_n, %first{number} : index
"""

    def add_rolled(self):
        """The first row behind the others, or the first column."""
        i, axis = self.pick(True), int(self.rng.integers(2))
        part, place = self.pick_result(False), self.pick_result(False)
        number = len(self.nodes)

        def window(offset, size):
            pairs = [(offset, size), ("0", "%d_n")]
            pairs = pairs if axis == 0 else pairs[::-1]
            return (f"[{', '.join(p[0] for p in pairs)}] "
                    f"[{', '.join(p[1] for p in pairs)}] [1, 1]")
        text = self.extents(number) + f"""  %p{number} = tensor.extract_slice {self.name(i)}{window(f"%first{number}", f"%rest{number}")} : {self.type(i)} to <<pq#{part}>>
  %q{number} = tensor.extract_slice {self.name(i)}{window("0", f"%first{number}")} : {self.type(i)} to <<pq#{part}>>
  ! = tensor.concat dim({axis}) %p{number}, %q{number} : (<<pq#{part}>>, <<pq#{part}>>) -> @"""

        def compute(v, m):
            mask = np.concatenate(
                [self.closed(half, part)
                 for half in np.split(m[i], [min(1, len(m[i]))], axis)][::-1],
                axis)
            return np.roll(v[i], -1, axis), self.closed(mask, place)
        self.emit(place, text, compute)

    def add_reshaped(self):
        """Through a vector, with the numbers of all dimensions in one."""
        i, place = self.pick(True), self.pick_result(False)
        # MLIR takes what is reshaped back for what it was: a format in between
        # does not add to the pattern.
        first = self.reshaped.get(i, i)
        self.reshaped[len(self.nodes)] = first
        vector = ("tensor<?xf64, #sparse_tensor.encoding<{ map = (i) -> "
                  "(i : compressed) }>>")
        number = len(self.nodes)
        self.emit(place, f"""  %p{number} = tensor.collapse_shape {self.name(i)} [[0, 1]] : {self.type(i)} into {vector}
  ! = tensor.expand_shape %p{number} [[0, 1]] output_shape [%d_n, %d_n] : {vector} into @""",
                  lambda v, m: (v[i], self.closed(m[first], place)))

    def add_inserted(self):
        """The first half of the rows of one as the last half of another."""
        i, j = self.pick(True), self.pick(True)
        part, place = self.pick_result(False), self.nodes[j].place
        number = len(self.nodes)
        text = self.extents(number) + f"""  %p{number} = tensor.extract_slice {self.name(i)}[0, 0] [%half{number}, %d_n] [1, 1] : {self.type(i)} to <<pq#{part}>>
  %q{number} = arith.subi %d_n, %half{number} : index
  ! = tensor.insert_slice %p{number} into {self.name(j)}[%q{number}, 0] [%half{number}, %d_n] [1, 1] : <<pq#{part}>> into @"""

        def compute(v, m):
            half = len(v[i]) // 2
            kept = len(v[i]) - half
            mask = np.concatenate([m[j][:kept],
                                   self.closed(m[i][:half], part)])
            return (np.concatenate([v[j][:kept], v[i][:half]]),
                    self.closed(mask, place))
        self.emit(place, text, compute)

    def add_grown(self):
        """How often a loop, which starts with nothing stored, has met what two
        store: its pattern grows, and it has no derivative."""
        i = self.pick(True)
        place = self.nodes[i].place
        j = self.pick_of(place)
        number = len(self.nodes)
        counted = "".join(f"""
  %p{k}_{number} = sparse_autograd.pattern {self.name(m)} : {self.type(m)}
  %q{k}_{number} = arith.uitofp %p{k}_{number} : {self.type(m, 'i1')} to {self.type(m)}"""
                          for k, m in enumerate((i, j)))
        self.emit(place, f"""  %zero{number} = arith.constant 0 : index
  %one{number} = arith.constant 1 : index
  %three{number} = arith.constant 3 : index{counted}
  %e{number} = empty {self.type(i)}
  ! = scf.for %k = %zero{number} to %three{number} step %one{number} iter_args(%s = %e{number}) -> (@) {{
    %is_second = arith.cmpi eq, %k, %one{number} : index
    %t = scf.if %is_second -> (@) {{
      %u = arith.addf %s, %q1_{number} : @
      scf.yield %u : @
    }} else {{
      %u = arith.addf %s, %q0_{number} : @
      scf.yield %u : @
    }}
    scf.yield %t : @
  }}""", lambda v, m: (2.0 * m[i] + 1.0 * m[j], m[i] | m[j]))

    def add_branched(self):
        """One of two patterns: where there is an odd number of rows the first."""
        i = self.pick(True)
        place = self.nodes[i].place
        j = self.pick_of(place)
        number = len(self.nodes)

        def compute(v, m):
            is_odd = len(v[i]) % 2 == 1
            return (np.sin(v[i]), m[i]) if is_odd else (v[j], m[j])
        self.emit(place, f"""  %two{number} = arith.constant 2 : index
  %one{number} = arith.constant 1 : index
  %rest{number} = arith.remui %d_n, %two{number} : index
  %odd{number} = arith.cmpi eq, %rest{number}, %one{number} : index
  ! = scf.if %odd{number} -> (@) {{
    %u = math.sin {self.name(i)} : @
    scf.yield %u : @
  }} else {{
    scf.yield {self.name(j)} : @
  }}""", compute)

    def evaluate(self, arrays, patterns):
        values, masks = list(arrays), [patterns.get(i) for i in
                                       range(len(arrays))]
        for node in self.nodes[len(arrays):]:
            with np.errstate(all="ignore"):
                value, mask = node.compute(values, masks)
            values.append(value if mask is None else np.where(mask, value, 0))
            masks.append(mask)
        return values, masks

    def function(self, name):
        types = ["nn" + (f"#{n.place}" if n.place else "") for n in self.nodes]
        returned = ", ".join(self.name(r) for r in self.results)
        listed = ", ".join(self.type(r) for r in self.results)

        def pattern(result):
            return lambda p, x: self.evaluate(x, p)[1][result]
        return SparseFunction(
            name, types[:len(self.leaves)], [types[r] for r in self.results],
            "\n".join(self.lines) + f"\n  return {returned} : {listed}",
            lambda x, p: tuple(self.evaluate(x, p)[0][r]
                               for r in self.results),
            tuple(pattern(r) for r in self.results if self.nodes[r].place))

    def variant(self):
        return Variant(tuple(self.encodings.items()),
                       tuple(self.names.items()))
