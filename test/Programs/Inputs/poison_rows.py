# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in which what a mask leaves out stays where it is: the rows of the
table of poisoned-programs.py, one for each op that holds a region or names a
function, and one for each that reads a dense tensor at a pattern.

Every function takes %x and %w, of 3x4 elements, the mask %m, the pattern %q of
the same elements, a condition %c and an index %n. A row takes the name of a value
of 3x4 elements and returns that of another one, whose elements depend on those
of %x, %w and the value at the same place; what else they depend on is masked. The
numbers that the mask selects stay between 0.4 and 2.6.
"""

SHAPE = (3, 4)
D, M, ROW = "tensor<3x4xf64>", "tensor<3x4xi1>", "tensor<1x4xf64>"
S, Q = "tensor<3x4xf64, #E>", "tensor<3x4xi1, #E>"
ARGUMENTS = [D, D, M, Q, "i1", "index"]
SIGNATURE = f"%x: {D}, %w: {D}, %m: {M}, %q: {Q}, %c: i1, %n: index"
TYPES = ", ".join(ARGUMENTS)
PAIRS = ("[affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, "
         "affine_map<(i, j) -> (i, j)>]")
PARALLEL = 'iterator_types = ["parallel", "parallel"]'


class Writer:
    """The text of one program. `name` starts the names of its functions."""

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.functions, self.lines, self.count = [], [], 0
        self.rows = set()

    def chance(self, probability):
        return self.rng.random() < probability

    def choose(self, items):
        return items[self.rng.integers(len(items))]

    def fresh(self, prefix="v"):
        self.count += 1
        return f"%{prefix}{self.count}"

    def line(self, text):
        self.lines.append("  " + text)

    def define(self, text, prefix="v"):
        """A new value, the result of an op."""
        value = self.fresh(prefix)
        self.line(f"{value} = {text}")
        return value

    def constant(self, number, type_):
        value = repr(float(number))
        if type_ != "f64":
            value = f"dense<{value}>"
        return self.define(f"arith.constant {value} : {type_}")

    def index(self, number):
        return self.define(f"arith.constant {number} : index")

    def function(self, arguments, result, body):
        """A function of its own, whose body `body` writes; its name."""
        self.count += 1
        name = f"@{self.name}_{self.count}"
        outer, self.lines = self.lines, []
        returned = body()
        self.line(f"return {returned} : {result}")
        lines, self.lines = self.lines, outer
        self.functions.append("\n".join(
            [f"func.func private {name}({arguments}) -> ({result}) {{",
             *lines, "}"]))
        return name

    def nested(self, depth):
        """A function that does to its first argument what rows do."""
        return self.function(SIGNATURE, D, lambda: self.steps("%x", depth))

    def given(self, value):
        return f"{value}, %w, %m, %q, %c, %n"

    # Elementwise ops, of tensors and of numbers.

    def step(self, value, type_):
        """An op that has no value or no derivative at some poison."""
        def unary(op):
            return self.define(f"{op} {value} : {type_}")

        kind = self.choose(("log", "sqrt", "reciprocal", "rsqrt", "power",
                            "exponential", "squash"))
        if kind == "log":
            log, shift = unary("math.log"), self.constant(1.6, type_)
            return self.define(f"arith.addf {log}, {shift} : {type_}")
        if kind == "reciprocal":
            one = self.constant(1, type_)
            return self.define(f"arith.divf {one}, {value} : {type_}")
        if kind == "power":
            exponent = self.constant(self.choose((0.5, 0.75, -0.5)), type_)
            return self.define(f"math.powf {value}, {exponent} : {type_}")
        if kind == "exponential":
            negated = unary("arith.negf")
            power = self.define(f"math.exp {negated} : {type_}")
            shift = self.constant(0.5, type_)
            return self.define(f"arith.addf {power}, {shift} : {type_}")
        if kind == "squash":
            return self.squash(value, type_)
        return unary(f"math.{kind}")

    def squash(self, value, type_=D):
        """Brings any numbers between 0.75 and 1.75."""
        value = self.define(f"math.tanh {value} : {type_}")
        half, shift = self.constant(0.5, type_), self.constant(1.25, type_)
        value = self.define(f"arith.mulf {value}, {half} : {type_}")
        return self.define(f"arith.addf {value}, {shift} : {type_}")

    def with_w(self, value):
        """An op of two tensors; %w is between 0.5 and 1."""
        kind = self.choose(("power", "quotient", "select"))
        if kind == "power":
            return self.define(f"math.powf {value}, %w : {D}")
        if kind == "quotient":
            quotient = self.define(f"arith.divf {value}, %w : {D}")
            return self.define(f"math.sqrt {quotient} : {D}")
        log, one = self.define(f"math.log {value} : {D}"), self.constant(1, D)
        chosen = self.define(f"arith.select %m, {log}, {one} : {M}, {D}")
        return self.squash(chosen)

    # Sequences.

    def steps(self, value, depth):
        """One to three steps, of which a row is one if `depth` allows."""
        row = self.rng.integers(0, 3) if depth else -1
        for position in range(self.choose((1, 2, 2, 3) if depth else (1, 2))):
            if position == row or (depth and position == 0 and row > 0 and
                                   self.chance(0.5)):
                value = self.row(self.choose(list(ALL)), value, depth - 1)
            elif self.chance(0.3):
                value = self.with_w(value)
            else:
                value = self.step(value, D)
        return value

    def row(self, name, value, depth):
        self.rows.add(name)
        return ALL[name](self, value, depth)

    def scalar_steps(self, value, type_="f64"):
        for _ in range(self.choose((1, 2))):
            value = self.step(value, type_)
        return value


# Ops that name a function.

def call(g, value, depth):
    callee = g.nested(depth)
    return g.define(f"func.call {callee}({g.given(value)}) : ({TYPES}) -> {D}")


def checkpoint(g, value, depth):
    callee = g.nested(depth)
    return g.define(f"sparse_autograd.checkpoint {callee}({g.given(value)}) : "
                    f"({TYPES}) -> {D}")


def custom_vjp(g, value, depth):
    """The pair is that of the callee, or that of a logarithm by hand."""
    if g.chance(0.5):
        log = f"func.func private @{g.name}_log"
        g.count += 1
        suffix = g.count
        g.functions.append(f"""{log}{suffix}(%x: {D}) -> {D} {{
  %y = math.log %x : {D}
  return %y : {D}
}}
{log}{suffix}_forward(%x: {D}) -> ({D}, {D}) {{
  %y = math.log %x : {D}
  return %y, %x : {D}, {D}
}}
{log}{suffix}_backward(%x: {D}, %ct: {D}) -> {D} {{
  %g = arith.divf %ct, %x : {D}
  return %g : {D}
}}""")
        name = f"@{g.name}_log{suffix}"
        return g.squash(g.define(
            f"sparse_autograd.custom_vjp {name}({value}) "
            f"forward({name}_forward) backward({name}_backward) : "
            f"({D}) -> {D}"))
    callee = g.nested(depth)
    g.functions.append(f"""
func.func private {callee}_forward({SIGNATURE}) -> ({D}, {TYPES}) {{
  %y = func.call {callee}(%x, %w, %m, %q, %c, %n) : ({TYPES}) -> {D}
  return %y, %x, %w, %m, %q, %c, %n : {D}, {TYPES}
}}
func.func private {callee}_backward({SIGNATURE}, %ct: {D}) -> ({D}, {D}) {{
  %y, %dx, %dw = sparse_autograd.vjp {callee}(%x, %w, %m, %q, %c, %n) cotangents(%ct)
      {{wrt = [0, 1]}} : ({TYPES}), ({D}) -> ({D}, {D}, {D})
  return %dx, %dw : {D}, {D}
}}""")
    return g.define(
        f"sparse_autograd.custom_vjp {callee}({g.given(value)}) "
        f"forward({callee}_forward) backward({callee}_backward) : "
        f"({TYPES}) -> {D}")


def vjp(g, value, depth):
    callee = g.nested(min(depth, 1))
    result = g.fresh()
    g.line(f"{result}:2 = sparse_autograd.vjp {callee}({g.given(value)}) "
           f"cotangents(%w) {{wrt = [{g.choose((0, 1))}]}} : ({TYPES}), ({D}) "
           f"-> ({D}, {D})")
    return g.squash(f"{result}#1")


def jvp(g, value, depth):
    callee = g.nested(min(depth, 1))
    result = g.fresh()
    g.line(f"{result}:2 = sparse_autograd.jvp {callee}({g.given(value)}) "
           f"tangents(%w) {{wrt = [0]}} : ({TYPES}), ({D}) -> ({D}, {D})")
    return g.squash(f"{result}#1")


def value_and_grad(g, value, depth):
    def body():
        inner = g.steps("%x", min(depth, 1))
        return g.define(f"sparse_autograd.masked_reduce sum {inner}, %m "
                        f"dims = [0, 1] : {D}, {M} -> tensor<f64>")
    callee = g.function(SIGNATURE, "tensor<f64>", body)
    result = g.fresh()
    g.line(f"{result}:2 = sparse_autograd.value_and_grad {callee}"
           f"({g.given(value)}) {{wrt = [0]}} : ({TYPES}) -> (tensor<f64>, {D})")
    return g.squash(f"{result}#1")


def split_vjp(g, value, depth):
    """The two functions, called one after the other."""
    callee = g.nested(min(depth, 1))
    residuals = f"!sparse_autograd.residuals<{callee}_forward>"
    g.functions.append(f"""
sparse_autograd.split_vjp {callee} as {callee}_forward, {callee}_backward {{wrt = [0]}}
func.func private {callee}_forward({TYPES}) -> ({D}, {residuals})
func.func private {callee}_backward({residuals}, {D}) -> {D}""")
    result = g.fresh()
    g.line(f"{result}:2 = func.call {callee}_forward({g.given(value)}) : "
           f"({TYPES}) -> ({D}, {residuals})")
    return g.squash(g.define(
        f"func.call {callee}_backward({result}#1, %w) : ({residuals}, {D}) -> "
        f"{D}"))


def linear_transpose(g, value, _):
    """Of t -> t / a, or of t -> sqrt(a) t."""
    def body():
        if g.chance(0.5):
            return g.define(f"arith.divf %t, %a : {D}")
        root = g.define(f"math.sqrt %a : {D}")
        return g.define(f"arith.mulf {root}, %t : {D}")
    callee = g.function(f"%a: {D}, %t: {D}", D, body)
    return g.squash(g.define(
        f"sparse_autograd.linear_transpose {callee}({value}, {value}) "
        f"cotangents(%w) {{wrt = [1]}} : ({D}, {D}), ({D}) -> ({D})"))


# Ops that hold a region.

def for_(g, value, depth):
    """A loop that runs once, twice or as often as an argument says."""
    c0, c1 = g.index(0), g.index(1)
    upper = g.choose((c1, g.index(2), "%n"))
    carried, result = g.fresh("c"), g.fresh("r")
    g.line(f"{result} = scf.for {g.fresh('i')} = {c0} to {upper} step {c1} "
           f"iter_args({carried} = {value}) -> ({D}) {{")
    g.line(f"scf.yield {g.steps(carried, depth)} : {D}")
    g.line("}")
    return result


def while_(g, value, depth):
    c0, c1 = g.index(0), g.index(1)
    carried, count, result = g.fresh("c"), g.fresh("k"), g.fresh("r")
    g.line(f"{result}:2 = scf.while ({carried} = {value}, {count} = {c0}) : "
           f"({D}, index) -> ({D}, index) {{")
    before = g.steps(carried, 0) if g.chance(0.3) else carried
    more = g.define(f"arith.cmpi slt, {count}, %n : index")
    g.line(f"scf.condition({more}) {before}, {count} : {D}, index")
    carried, count = g.fresh("c"), g.fresh("k")
    g.line(f"}} do {{\n  ^bb0({carried}: {D}, {count}: index):")
    after = g.steps(carried, depth)
    following = g.define(f"arith.addi {count}, {c1} : index")
    g.line(f"scf.yield {after}, {following} : {D}, index")
    g.line("}")
    return f"{result}#0"


def if_(g, value, depth):
    result = g.fresh("r")
    g.line(f"{result} = scf.if %c -> ({D}) {{")
    g.line(f"scf.yield {g.steps(value, depth)} : {D}")
    g.line("} else {")
    g.line(f"scf.yield {g.steps(value, 0) if g.chance(0.5) else value} : {D}")
    g.line("}")
    return result


def index_switch(g, value, depth):
    result = g.fresh("r")
    g.line(f"{result} = scf.index_switch %n -> {D}")
    for label in ("case 1", "case 2", "default"):
        g.line(f"{label} {{")
        inner = g.steps(value, depth if label == "case 2" else 0)
        g.line(f"scf.yield {inner} : {D}")
        g.line("}")
    return result


def execute_region(g, value, depth):
    """`no_inline` makes it what a checkpoint is."""
    result = g.fresh("r")
    g.line(f"{result} = scf.execute_region -> {D} "
           f"{'no_inline ' if g.chance(0.7) else ''}{{")
    g.line(f"scf.yield {g.steps(value, depth)} : {D}")
    g.line("}")
    return result


def forall(g, value, _):
    """Row by row."""
    result, i, out = g.fresh("r"), g.fresh("i"), g.fresh("o")
    g.line(f"{result} = scf.forall ({i}) in (3) shared_outs({out} = "
           f"{g.choose((value, '%w'))}) -> ({D}) {{")
    row = g.define(f"tensor.extract_slice {value}[{i}, 0] [1, 4] [1, 1] : {D} "
                   f"to {ROW}")
    row = g.scalar_steps(row, ROW)
    g.line("scf.forall.in_parallel {")
    g.line(f"tensor.parallel_insert_slice {row} into {out}[{i}, 0] [1, 4] "
           f"[1, 1] : {ROW} into {D}")
    g.line("}")
    g.line("}")
    return result


def parallel(g, value, _):
    """Scales by a sum over the elements that the mask selects."""
    c0, c1, rows, columns = map(g.index, (0, 1, *SHAPE))
    zero = g.constant(0, "f64")
    result, i, j = g.fresh("r"), g.fresh("i"), g.fresh("j")
    g.line(f"{result} = scf.parallel ({i}, {j}) = ({c0}, {c0}) to ({rows}, "
           f"{columns}) step ({c1}, {c1}) init ({zero}) -> f64 {{")
    element = g.define(f"tensor.extract {value}[{i}, {j}] : {D}")
    selects = g.define(f"tensor.extract %m[{i}, {j}] : {M}")
    term = g.scalar_steps(element)
    term = g.define(f"arith.select {selects}, {term}, {zero} : f64")
    a, b = g.fresh("a"), g.fresh("b")
    g.line(f"scf.reduce({term} : f64) {{\n  ^bb0({a}: f64, {b}: f64):")
    total = g.define(f"arith.addf {a}, {b} : f64")
    g.line(f"scf.reduce.return {total} : f64")
    g.line("}")
    g.line("}")
    factor = g.squash(result, "f64")
    factor = g.define(f"tensor.splat {factor} : {D}")
    product = g.define(f"arith.mulf {factor}, {value} : {D}")
    one = g.constant(1, D)
    return g.squash(g.define(
        f"arith.select %m, {product}, {one} : {M}, {D}"))


def generic(g, value, _):
    """A region on numbers of two operands."""
    a, b, out, result = g.fresh("a"), g.fresh("b"), g.fresh("o"), g.fresh("r")
    g.line(f"{result} = linalg.generic {{indexing_maps = {PAIRS}, {PARALLEL}}} "
           f"ins({value}, %w : {D}, {D}) outs({value} : {D}) {{")
    g.line(f"^bb0({a}: f64, {b}: f64, {out}: f64):")
    power = g.define(f"math.powf {g.scalar_steps(a)}, {b} : f64")
    g.line(f"linalg.yield {power} : f64")
    g.line(f"}} -> {D}")
    return result


def generate(g, value, _):
    i, j, result = g.fresh("i"), g.fresh("j"), g.fresh("r")
    g.line(f"{result} = tensor.generate {{\n  ^bb0({i}: index, {j}: index):")
    element = g.define(f"tensor.extract {value}[{i}, {j}] : {D}")
    g.line(f"tensor.yield {g.scalar_steps(element)} : f64")
    g.line(f"}} : {D}")
    return result


def pad(g, value, _):
    """Padded, computed with, and cut out again."""
    i, j, padded = g.fresh("i"), g.fresh("j"), g.fresh("r")
    wide = "tensor<5x6xf64>"
    one = g.constant(1, "f64")
    g.line(f"{padded} = tensor.pad {value} low[1, 1] high[1, 1] {{\n"
           f"  ^bb0({i}: index, {j}: index):")
    g.line(f"tensor.yield {one} : f64")
    g.line(f"}} : {D} to {wide}")
    return g.define(f"tensor.extract_slice {g.scalar_steps(padded, wide)}"
                    f"[1, 1] [3, 4] [1, 1] : {wide} to {D}")


def made_dense(g, value):
    """A value on the pattern as a dense one, without the zeros that this
    brings."""
    dense = g.define(f"sparse_tensor.convert {value} : {S} to {D}")
    if g.chance(0.5):
        return dense
    one = g.constant(1, D)
    return g.define(f"arith.select %m, {dense}, {one} : {M}, {D}")


def zeros(g):
    return g.define(f"sparse_autograd.zeros %q : {Q} -> {S}")


def sampled_generic(g, value, _):
    a, b, out, result = g.fresh("a"), g.fresh("b"), g.fresh("o"), g.fresh("r")
    init = zeros(g)
    g.line(f"{result} = sparse_autograd.sampled_generic {{indexing_maps = "
           f"{PAIRS}, {PARALLEL}}} ins({value}, %w : {D}, {D}) outs({init} : {S})"
           " {")
    g.line(f"^bb0({a}: f64, {b}: f64, {out}: f64):")
    power = g.define(f"math.powf {g.scalar_steps(a)}, {b} : f64")
    g.line(f"linalg.yield {power} : f64")
    g.line(f"}} -> {S}")
    return made_dense(g, result)


NESTING = {
    "func.call": call,
    "linalg.generic": generic,
    "scf.execute_region": execute_region,
    "scf.for": for_,
    "scf.forall": forall,
    "scf.forall.in_parallel": forall,
    "scf.if": if_,
    "scf.index_switch": index_switch,
    "scf.parallel": parallel,
    "scf.reduce": parallel,
    "scf.while": while_,
    "sparse_autograd.checkpoint": checkpoint,
    "sparse_autograd.custom_vjp": custom_vjp,
    "sparse_autograd.jvp": jvp,
    "sparse_autograd.linear_transpose": linear_transpose,
    "sparse_autograd.sampled_generic": sampled_generic,
    "sparse_autograd.split_vjp": split_vjp,
    "sparse_autograd.value_and_grad": value_and_grad,
    "sparse_autograd.vjp": vjp,
    "tensor.generate": generate,
    "tensor.pad": pad,
}


# Reads of a dense tensor at a pattern, or of some of its rows.

def sample(g, value, _):
    return made_dense(g, g.define(
        f"sparse_autograd.sample {value}, %q : {D}, {Q} -> {S}"))


def sampled_twice(g, value, _):
    """Two samples, with ops on the pattern."""
    a, b = (g.define(f"sparse_autograd.sample {v}, %q : {D}, {Q} -> {S}")
            for v in (g.step(value, D), g.with_w(value)))
    product = g.define(f"arith.mulf {a}, {b} : {S}")
    return g.squash(made_dense(g, product))


def sparse_times_dense(g, value, _):
    """A factor that stores nothing where the mask leaves out."""
    factor = g.define(f"sparse_autograd.sample %w, %q : {D}, {Q} -> {S}")
    init, result = zeros(g), g.fresh("r")
    a, b, out = g.fresh("a"), g.fresh("b"), g.fresh("o")
    empty = g.define(f"tensor.empty() : {D}")
    init, type_ = g.choose(((init, S), (empty, D)))
    op = "sparse_autograd.sampled_generic" if type_ == S else "linalg.generic"
    g.line(f"{result} = {op} {{indexing_maps = {PAIRS}, {PARALLEL}}} "
           f"ins({factor}, {value} : {S}, {D}) outs({init} : {type_}) {{")
    g.line(f"^bb0({a}: f64, {b}: f64, {out}: f64):")
    product = g.define(f"arith.mulf {a}, {b} : f64")
    g.line(f"linalg.yield {product} : f64")
    g.line(f"}} -> {type_}")
    return g.squash(made_dense(g, result) if type_ == S else result)


def sampled_contraction(g, value, _):
    """Of a sum of products at each place, times what stands there."""
    ones, result = g.constant(0.5, "tensor<2x4xf64>"), g.fresh("r")
    left = g.constant(1.5, "tensor<3x2xf64>")
    a, b, v, out = (g.fresh(p) for p in "abvo")
    g.line(f"{result} = sparse_autograd.sampled_generic {{indexing_maps = "
           "[affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, "
           "affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j)>], "
           'iterator_types = ["parallel", "parallel", "reduction"]} '
           f"ins({left}, {ones}, {value} : tensor<3x2xf64>, tensor<2x4xf64>, "
           f"{D}) outs({zeros(g)} : {S}) {{")
    g.line(f"^bb0({a}: f64, {b}: f64, {v}: f64, {out}: f64):")
    product = g.define(f"arith.mulf {a}, {b} : f64")
    term = g.define(f"arith.mulf {product}, {v} : f64")
    total = g.define(f"arith.addf {out}, {term} : f64")
    g.line(f"linalg.yield {total} : f64")
    g.line(f"}} -> {S}")
    return g.squash(made_dense(g, result))


def gather(g, value, _):
    """All rows, in their order."""
    rows = g.define("arith.constant dense<[0, 1, 2]> : tensor<3xindex>")
    return g.define(f"sparse_autograd.gather {value}, {rows} : {D}, "
                    f"tensor<3xindex> -> {D}")


def softmax(g, value, _):
    """Along rows, and without the zeros that this brings."""
    op = g.choose(("masked_softmax", "masked_log_softmax"))
    return g.squash(g.define(
        f"sparse_autograd.{op} {value}, %m dims = [1] : {D}, {M}"))


def selection24(g, value, _):
    """Two of four, as the mask says; of a poisoned tensor the choice would be
    another one."""
    kept = g.define(f"arith.uitofp %m : {M} to {D}")
    select = g.choose(("greedy", "optimal", "row_wise", "causal1122"))
    gradient = g.choose(("dense", "ste", "scaled<1.0, 0.0>",
                         "scaled<0.5, 2.0>"))
    return g.squash(g.define(
        f"sparse_autograd.sparsify_24_like {value}, {kept} select = {select} "
        f"gradient = {gradient} : {D}, {D} -> {D}"))


PATTERNS = {
    "sparse_autograd.gather": gather,
    "sparse_autograd.masked_softmax": softmax,
    "sparse_autograd.sample": sample,
    "sparse_autograd.sparsify_24_like": selection24,
    "a contraction, sampled": sampled_contraction,
    "a product of samples": sampled_twice,
    "a sparse factor": sparse_times_dense,
}
ALL = {**NESTING, **PATTERNS}


# What masks in the end: the results, as text and types.

def reduced(g, value):
    kind = g.choose(("sum", "mean", "max", "min", "prod", "var", "std", "norm2",
                     "logsumexp"))
    dims, type_ = g.choose((("[0, 1]", "tensor<f64>"), ("[1]", "tensor<3xf64>"),
                            ("[0]", "tensor<4xf64>")))
    return g.define(f"sparse_autograd.masked_reduce {kind} {value}, %m dims = "
                    f"{dims} : {D}, {M} -> {type_}"), type_


def reduced_sample(g, value):
    kind = g.choose(("sum", "mean", "var", "std", "norm2"))
    values = g.define(f"sparse_autograd.sample {value}, %q : {D}, {Q} -> {S}")
    return g.define(f"sparse_autograd.masked_reduce {kind} {values}, %q dims = "
                    f"[0, 1] : {S}, {Q} -> tensor<f64>"), "tensor<f64>"


def selected(g, value):
    zero = g.constant(0, D)
    return g.define(f"arith.select %m, {value}, {zero} : {M}, {D}"), D


def normalized(g, value):
    return g.define(f"sparse_autograd.masked_softmax {value}, %m dims = [1] : "
                    f"{D}, {M}"), D


ENDS = (reduced, reduced, reduced, reduced_sample, selected, normalized)
