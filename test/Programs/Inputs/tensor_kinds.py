# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants and the ops of the tensor dialect."""

import numpy as np

from execution import FLOATS
from language import Kind, Step, Value
from scalar_kinds import literal


class Constant(Kind):
    """Numbers in the program."""
    name = "arith.constant"
    scalar = True

    def draw(self, g):
        element = g.floating()
        shape = None if g.scalar_region or g.chance(0.3) else g.shape()
        array = g.draw_array(element, shape)
        if np.size(array) > 12:
            array = np.full_like(array, np.ravel(array)[0])
        return Step(self, [], [Value(element, shape)], {"array": array})

    def text(self, p, step):
        result, array = step.results[0], step.attributes["array"]

        def number(v):
            if result.element in FLOATS:
                return literal(v)
            return str(bool(v)).lower() if result.element == "i1" else str(v)

        if result.shape is None:
            p.line(f"{p.declare(result)} = arith.constant {number(array)}" +
                   (f" : {result.element}" if result.element != "i1" else ""))
            return

        def listed(a):
            if a.ndim == 0:
                return number(a[()])
            return "[" + ", ".join(map(listed, a)) + "]"

        flat = np.ravel(array)
        same = flat.size and np.all(flat == flat[0]) and (
            not np.any(np.signbit(flat)) if result.element in FLOATS else True)
        content = ("" if not flat.size else number(flat[0]) if same else
                   listed(array))
        if not same and flat.size > 12:
            content = number(flat[0])
        p.static_result(result, f"arith.constant dense<{content}> : "
                        f"{p.type(result, static=True)}")

    def evaluate(self, tape, step, operands, env):
        array = step.attributes["array"]
        element = step.results[0].element
        return [tape.constant(array, element) if element in FLOATS else array]


CONSTANT = Constant()


class TensorKind(Kind):
    def __init__(self):
        self.name = "tensor." + type(self).__name__.lower()


class Move(TensorKind):
    """An op that moves elements, as a function of NumPy says."""

    def evaluate(self, tape, step, operands, env):
        indices = [int(o) for o in operands if isinstance(o, np.ndarray)]
        arrays = [o for o in operands if not isinstance(o, np.ndarray)]
        return [tape.move(lambda *p: self.moved(step, p, indices), *arrays)]

    def moved(self, step, arrays, indices):
        raise NotImplementedError


def draw_index(g, extent):
    """An index below an extent: a value if there is one, or a new constant."""
    found = [v for v in g.visible() if v.element == "index" and
             v in g.limits and g.limits[v] <= extent]
    if found and g.chance(0.8):
        return g.rng.choice(found)
    value = Value("index", None)
    at = g.rng.randrange(extent)
    if g.add(Step(CONSTANT, [], [value], {"array": np.asarray(at)})):
        g.limits[value] = at + 1
    return value


class Extract(Move):
    def draw(self, g):
        x = g.value(rank=(1, 2, 3), where=lambda v: 0 not in v.shape)
        if x is None:
            return None
        indices = [draw_index(g, n) for n in x.shape]
        return Step(self, [x] + indices, [Value(x.element, None)])

    def text(self, p, step):
        x, *indices = step.operands
        p.line(f"{p.declare(step.results[0])} = tensor.extract {x.name}"
               f"[{p.names(indices)}] : {p.type(x)}")

    def moved(self, step, arrays, indices):
        return arrays[0][tuple(indices)]


class Insert(Move):
    def draw(self, g):
        x = g.value(rank=(1, 2, 3), where=lambda v: 0 not in v.shape)
        if x is None:
            return None
        s = g.value(x.element, None)
        indices = [draw_index(g, n) for n in x.shape]
        return Step(self, [s, x] + indices, [Value(x.element, x.shape)])

    def text(self, p, step):
        s, x, *indices = step.operands
        p.line(f"{p.declare(step.results[0])} = tensor.insert {s.name} into "
               f"{x.name}[{p.names(indices)}] : {p.type(x)}")

    def moved(self, step, arrays, indices):
        result = np.array(arrays[1])
        result[tuple(indices)] = arrays[0]
        return result


class Extract_Slice(Move):
    def draw(self, g):
        # No slice is valid of an extent of 0.
        x = g.value(rank=(1, 2, 3), where=lambda v: 0 not in v.shape)
        if x is None:
            return None
        windows = [draw_window(g, n) for n in x.shape]
        sizes = tuple(size for _, size, _ in windows)
        drop = draw_dropped(g, windows)
        shape = tuple(n for d, n in enumerate(sizes) if d not in drop)
        return Step(self, [x], [Value(x.element, shape)],
                    {"windows": windows, "drop": drop})

    def text(self, p, step):
        x, result = step.operands[0], step.results[0]
        text, shape = window_text(p, step, x)
        shape = [n for d, n in enumerate(shape)
                 if d not in step.attributes["drop"]]
        type_ = "tensor<" + "x".join(shape + [x.element]) + ">"
        text = f"tensor.extract_slice {x.name}{text} : {p.type(x)} to {type_}"
        named(p, result, text, type_)

    def moved(self, step, arrays, indices):
        window = slices(step.attributes["windows"])
        return np.squeeze(arrays[0][window],
                          tuple(step.attributes["drop"]))


class Insert_Slice(Move):
    def draw(self, g):
        x = g.value(rank=(1, 2, 3), where=lambda v: 0 not in v.shape)
        if x is None:
            return None
        windows = [draw_window(g, n) for n in x.shape]
        sizes = tuple(size for _, size, _ in windows)
        drop = draw_dropped(g, windows)
        shape = tuple(n for d, n in enumerate(sizes) if d not in drop)
        s = g.value(x.element, shape)
        return Step(self, [s, x], [Value(x.element, x.shape)],
                    {"windows": windows, "drop": drop})

    def text(self, p, step):
        s, x = step.operands
        text, shape = window_text(p, step, x)
        name, type_ = s.name, p.type(s)
        shape = [n for d, n in enumerate(shape)
                 if d not in step.attributes["drop"]]
        wanted = "tensor<" + "x".join(shape + [x.element]) + ">"
        if type_ != wanted:
            name = p.fresh("s")
            p.line(f"{name} = tensor.cast {s.name} : {type_} to {wanted}")
        p.line(f"{p.declare(step.results[0])} = tensor.insert_slice {name} "
               f"into {x.name}{text} : {wanted} into {p.type(x)}")

    def moved(self, step, arrays, indices):
        result = np.array(arrays[1])
        window = slices(step.attributes["windows"])
        at = result[window]
        result[window] = arrays[0].reshape(at.shape)
        return result


def draw_window(g, extent):
    """An offset, a size and a stride within an extent."""
    stride = g.rng.choice((1, 1, 1, 2, 3))
    size = g.rng.randint(0 if g.chance(0.1) else 1,
                         (extent + stride - 1) // stride)
    room = extent - max(1, (size - 1) * stride + 1)
    return g.rng.randint(0, room), size, stride


def draw_dropped(g, windows):
    """Dimensions of one that a slice leaves out."""
    ones = [d for d, (_, size, _) in enumerate(windows) if size == 1]
    return [d for d in ones if g.chance(0.5)]


def slices(windows):
    return tuple(slice(offset, offset + max(0, (size - 1) * stride + 1), stride)
                 if size else slice(0, 0) for offset, size, stride in windows)


def window_text(p, step, x):
    """The three lists, some sizes and offsets as values in a dynamic program,
    and the extents of the slice."""
    lists, shape = ([], [], []), []
    for d, (offset, size, stride) in enumerate(step.attributes["windows"]):
        computed = p.dynamic and (d + offset) % 2 == 0
        lists[0].append(p.index(offset) if computed else str(offset))
        lists[1].append(p.index(size) if computed and size != 1 else str(size))
        lists[2].append(str(stride))
        shape.append("?" if lists[1][-1].startswith("%") else str(size))
    return "".join(f" [{', '.join(l)}]" for l in lists), shape


def named(p, result, text, type_):
    """A result of an op whose own type is another."""
    if type_ == p.type(result):
        p.line(f"{p.declare(result)} = {text}")
        return
    name = p.fresh("s")
    p.line(f"{name} = {text}")
    p.line(f"{p.declare(result)} = tensor.cast {name} : {type_} to "
           f"{p.type(result)}")


def _factors(g, extent):
    """Two factors of an extent."""
    divisors = [d for d in range(1, extent + 1) if extent % d == 0] or [1]
    first = g.rng.choice(divisors)
    return first, extent // first


class Expand_Shape(Move):
    def draw(self, g):
        x = g.value(rank=(1, 2), poison=False)
        d = g.rng.randrange(len(x.shape))
        shape = x.shape[:d] + _factors(g, x.shape[d]) + x.shape[d + 1:]
        return Step(self, [x], [Value(x.element, shape)], {"split": d})

    def text(self, p, step):
        x, result = step.operands[0], step.results[0]
        groups = _groups(len(x.shape), step.attributes["split"])
        sizes = ", ".join(p.sizes(result.shape))
        p.line(f"{p.declare(result)} = tensor.expand_shape {x.name} {groups} "
               f"output_shape [{sizes}] : {p.type(x)} into {p.type(result)}")

    def moved(self, step, arrays, indices):
        return arrays[0].reshape(step.results[0].shape)


class Collapse_Shape(Move):
    def draw(self, g):
        x = g.value(rank=(2, 3))
        d = g.rng.randrange(len(x.shape) - 1)
        shape = x.shape[:d] + (x.shape[d] * x.shape[d + 1],) + x.shape[d + 2:]
        return Step(self, [x], [Value(x.element, shape)], {"split": d})

    def text(self, p, step):
        x, result = step.operands[0], step.results[0]
        groups = _groups(len(result.shape), step.attributes["split"])
        p.line(f"{p.declare(result)} = tensor.collapse_shape {x.name} {groups} "
               f": {p.type(x)} into {p.type(result)}")

    moved = Expand_Shape.moved


def _groups(rank, split):
    """[[0], [1, 2]]: where the group  has two dimensions."""
    groups, at = [], 0
    for d in range(rank):
        size = 2 if d == split else 1
        groups.append(list(range(at, at + size)))
        at += size
    return str(groups)


class Cast(Move):
    """To the other kind of type and back: one cast folds, so that it stands
    around an op."""

    def draw(self, g):
        x = g.value(rank=(0, 1, 2, 3))
        return Step(self, [x], [Value(x.element, x.shape)])

    def text(self, p, step):
        x, result = step.operands[0], step.results[0]
        dynamic = p.type(x)
        other = "tensor<" + "x".join(
            [("?" if d % 2 == 0 else str(n)) for d, n in enumerate(x.shape)] +
            [x.element]) + ">"
        first, second = p.fresh("s"), p.fresh("s")
        p.line(f"{first} = tensor.cast {x.name} : {dynamic} to {other}")
        p.line(f"{second} = arith.addf {first}, {first} : {other}")
        p.line(f"{p.declare(result)} = tensor.cast {second} : {other} to "
               f"{dynamic}")

    def evaluate(self, tape, step, operands, env):
        return [tape.add(operands[0], operands[0])]


class From_Elements(Move):
    def draw(self, g):
        shape = g.rng.choice(((), (1,), (2,), (3,), (2, 2), (1, 3), (5,)))
        n = int(np.prod(shape, dtype=int))
        first = g.value(shape=None)
        values = [first] + [g.value(first.element, None, old=0.95)
                            for _ in range(n - 1)]
        return Step(self, values, [Value(first.element, shape)])

    def text(self, p, step):
        p.static_result(step.results[0],
                        f"tensor.from_elements {p.names(step.operands)} : "
                        f"{p.type(step.results[0], static=True)}")

    def moved(self, step, arrays, indices):
        return np.array(arrays).reshape(step.results[0].shape)


class Splat(Move):
    def draw(self, g):
        s = g.value(shape=None)
        return Step(self, [s], [Value(s.element, g.shape())])

    def text(self, p, step):
        s, result = step.operands[0], step.results[0]
        sizes = (f"[{', '.join(p.sizes(result.shape))}]"
                 if p.dynamic and result.shape else "")
        p.line(f"{p.declare(result)} = tensor.splat {s.name}{sizes} : "
               f"{p.type(result)}")

    def moved(self, step, arrays, indices):
        return np.full(step.results[0].shape, arrays[0])


class Concat(Move):
    def draw(self, g):
        x = g.value(rank=(1, 2, 3))
        d = g.rng.randrange(len(x.shape))
        values = [x]
        for _ in range(g.rng.choice((0, 1, 1, 2))):
            n = x.shape[d] if g.chance(0.6) else g.rng.choice((0, 1, 2, 3))
            values.append(g.value(x.element,
                                  x.shape[:d] + (n,) + x.shape[d + 1:]))
        extent = sum(v.shape[d] for v in values)
        if extent * np.prod(x.shape[:d] + x.shape[d + 1:]) > 5000:
            return None
        g.rng.shuffle(values)
        shape = x.shape[:d] + (extent,) + x.shape[d + 1:]
        return Step(self, values, [Value(x.element, shape)], {"dim": d})

    def text(self, p, step):
        result = step.results[0]
        p.line(f"{p.declare(result)} = tensor.concat "
               f"dim({step.attributes['dim']}) {p.names(step.operands)} : "
               f"({p.types(step.operands)}) -> {p.type(result)}")

    def moved(self, step, arrays, indices):
        return np.concatenate(arrays, step.attributes["dim"])


class Pad(TensorKind):
    def draw(self, g):
        x = g.value(rank=(1, 2, 3))
        low = [g.rng.choice((0, 0, 1, 2, 3)) for _ in x.shape]
        high = [g.rng.choice((0, 0, 1, 2)) for _ in x.shape]
        shape = tuple(a + n + b for a, n, b in zip(low, x.shape, high))
        if np.prod(shape) > 5000:
            return None
        value = Value(x.element, None)
        number = np.asarray(g.rng.choice((0.0, 0.5, -1.0)))
        if not g.add(Step(CONSTANT, [], [value], {"array": number})):
            return None
        return Step(self, [x, value], [Value(x.element, shape)],
                    {"low": low, "high": high})

    def text(self, p, step):
        x, value = step.operands
        result = step.results[0]
        low, high = step.attributes["low"], step.attributes["high"]
        low = [p.index(n) if p.dynamic and d % 2 else str(n)
               for d, n in enumerate(low)]
        indices = ", ".join(f"{p.fresh('i')}: index" for _ in x.shape)
        text = (f"tensor.pad {x.name} low[{', '.join(low)}] "
                f"high[{', '.join(map(str, high))}] {{\n  ^bb0({indices}):\n"
                f"    tensor.yield {value.name} : {x.element}\n  }} : "
                f"{p.type(x)} to {p.type(result)}")
        p.line(f"{p.declare(result)} = {text}")

    def evaluate(self, tape, step, operands, env):
        x, value = operands
        low, high = step.attributes["low"], step.attributes["high"]
        width = list(zip(low, high))

        def padded(array, number):
            return np.pad(array, width, constant_values=int(number))
        return [tape.move(padded, x, value)]


KINDS = [CONSTANT] + [kind() for kind in (
    Extract, Insert, Extract_Slice, Insert_Slice, Expand_Shape, Collapse_Shape,
    Cast, From_Elements, Splat, Concat, Pad)]
