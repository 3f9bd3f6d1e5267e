"""All that the compiler has for people is reachable from Python: each op of the
dialect, each kind of reduction, each rule of derivatives. The lists are read from the
pages that are generated from the registries (test/Docs compares these), so that a new
entry fails here until it has a place."""

import pathlib
import re

import numpy as np
import pytest
import scipy.sparse as sp

import sparse_autograd as sa
import sparse_autograd.numpy as snp

ROOT = pathlib.Path(__file__).parents[2]
DIALECT = (ROOT / "docs/reference/Dialect.md").read_text()
RULES = (ROOT / "docs/derivatives.md").read_text()

x, m = np.ones((4, 5)), np.ones((4, 5), bool)
i, A = np.array([0, 1]), sp.csr_array(np.ones((4, 5)))
square = np.ones((4, 4))
stated = sa.custom_vjp(lambda x: x).defvjp(lambda x: (x, None), lambda r, g: g)

# A function of Python, and arguments for which its program has the op.
OPS = {
    "sparse_autograd.accumulate": (snp.accumulate, x, A),
    "sparse_autograd.checkpoint": (lambda x: sa.checkpoint(snp.sum)(x), x),
    "sparse_autograd.choose_24": (snp.choose_24, x),
    "sparse_autograd.custom_vjp": (stated, x),
    "sparse_autograd.gather": (snp.take, x, i),
    "sparse_autograd.grad_mask": (snp.grad_mask, x, m),
    "sparse_autograd.jvp": (lambda x: sa.jvp(snp.sum)(x, tangents=x), x),
    "sparse_autograd.log": (lambda x: snp.progress(rows=x.shape[0], first=x[0, 0]), x),
    "sparse_autograd.mask_24": (lambda x: snp.mask_24(snp.choose_24(x), x), x),
    "sparse_autograd.masked_log_softmax": (snp.log_softmax, x),
    "sparse_autograd.masked_reduce": (snp.sum, x),
    "sparse_autograd.masked_softmax": (snp.softmax, x),
    "sparse_autograd.pattern": (snp.pattern, A),
    "sparse_autograd.random": (lambda x: snp.random.uniform(0, 0, x.shape), x),
    "sparse_autograd.sample": (snp.sample, x, A),
    "sparse_autograd.scatter_rows": (lambda x: snp.scatter_rows(x[:2], i, 9), x),
    "sparse_autograd.sparsify_24": (snp.sparsify_24, x),
    "sparse_autograd.sparsify_24_like": (lambda x: snp.sparsify_24_like(x, x), x),
    "sparse_autograd.stop_gradient": (snp.stop_gradient, x),
    "sparse_autograd.stored_coordinates": (lambda A: snp.stored_coordinates(A, 1), A),
    "sparse_autograd.stored_values": (snp.stored_values, A),
    "sparse_autograd.value_and_grad": (sa.value_and_grad(snp.sum), x),
    "sparse_autograd.vjp": (lambda x: sa.vjp(snp.sum)(x, cotangents=1.0), x),
    "sparse_autograd.with_values": (lambda A: snp.with_values(snp.stored_values(A), A), A),
    "sparse_autograd.zeros": (snp.sparse_zeros_like, A),
}

# Ops that passes make of those above, and what they are made for.
MADE_BY_PASSES = {
    "barrier": "checkpoint",
    "begin_sparse_product": "products of sparse arrays by a library",
    "offer_product": "a sparse array times a dense one by a library",
    "offer_sampled_product": "a product of dense arrays at a pattern by a library",
    "count_before": "new patterns",
    "count_positions": "new patterns",
    "compress_24": "sparsify_24 whose result is stored",
    "multiply_24": "a stored 2:4 array times a dense one",
    "pack_24": "sparsify_24 whose result is stored",
    "end_sparse_product": "products of sparse arrays by a library",
    "inner_product": "products",
    "linear_transpose": "custom_vjp in forward mode",
    "sampled_generic": "gradients of sparse arrays",
    "sort_entries": "new patterns",
    "split_vjp": "the functions of frameworks",
    "store_positions": "new patterns",
}

RULES_OF = {
    "arith.addf": (snp.add, x, x),
    "arith.subf": (snp.subtract, x, x),
    "arith.mulf": (snp.multiply, x, x),
    "arith.divf": (snp.divide, x, x),
    "arith.negf": (snp.negative, x),
    "arith.remf": (snp.fmod, x, x),
    "arith.maximumf": (snp.maximum, x, x),
    "arith.minimumf": (snp.minimum, x, x),
    "arith.maxnumf": (snp.fmax, x, x),
    "arith.minnumf": (snp.fmin, x, x),
    "math.absf": (snp.abs, x),
    "math.acos": (snp.arccos, x),
    "math.acosh": (snp.arccosh, x),
    "math.asin": (snp.arcsin, x),
    "math.asinh": (snp.arcsinh, x),
    "math.atan": (snp.arctan, x),
    "math.atan2": (snp.arctan2, x, x),
    "math.atanh": (snp.arctanh, x),
    "math.cbrt": (snp.cbrt, x),
    "math.ceil": (snp.ceil, x),
    "math.clampf": (lambda x: snp.clip(x, -1, 1), x),
    "math.copysign": (snp.copysign, x, x),
    "math.cos": (snp.cos, x),
    "math.cosh": (snp.cosh, x),
    "math.erf": (snp.erf, x),
    "math.erfc": (snp.erfc, x),
    "math.exp": (snp.exp, x),
    "math.exp2": (snp.exp2, x),
    "math.expm1": (snp.expm1, x),
    "math.floor": (snp.floor, x),
    "math.fma": (snp.fma, x, x, x),
    "math.fpowi": (snp.power, x, np.ones((4, 5), int)),
    "math.log": (snp.log, x),
    "math.log10": (snp.log10, x),
    "math.log1p": (snp.log1p, x),
    "math.log2": (snp.log2, x),
    "math.powf": (snp.power, x, x),
    "math.roundeven": (snp.rint, x),
    "math.rsqrt": (snp.rsqrt, x),
    "math.sin": (snp.sin, x),
    "math.sinh": (snp.sinh, x),
    "math.sqrt": (snp.sqrt, x),
    "math.tan": (snp.tan, x),
    "math.tanh": (snp.tanh, x),
    "math.trunc": (snp.trunc, x),
    "arith.extf": (lambda x: x.astype(np.float64), np.ones(3, np.float32)),
    "arith.truncf": (lambda x: x.astype(np.float32), x),
    "arith.select": (snp.where, m, x, x),
    "linalg.generic": (snp.matmul, x, x.T),
    "scf.for": (lambda x: snp.fori_loop(0, 2, lambda i, x: x * 2, x), x),
    "scf.if": (lambda x: snp.cond(snp.sum(x) > 0, lambda x: x, lambda x: -x, x), x),
    "scf.while": (lambda x: snp.while_loop(lambda x: snp.sum(x) < 9, lambda x: x * 2, x), x),
    "tensor.cast": (lambda x: snp.fori_loop(0, 2, lambda i, y: snp.concatenate([y, y]), x[:1]), x),
    "tensor.collapse_shape": (lambda x: x[0], x),
    "tensor.concat": (lambda x: snp.concatenate([x, x]), x),
    "tensor.expand_shape": (lambda x: x[:, None], x),
    "tensor.extract": (lambda x: snp.cond(x[0, 0] > 0, snp.sum, snp.max, x), x),
    "tensor.extract_slice": (lambda x: x[1:], x),
    "tensor.from_elements": (lambda x: x.shape[0] * x, x),
    "tensor.insert_slice": (lambda x: x.at[0].set(1), x),
    "tensor.pad": (lambda x: snp.pad(x, 1), x),
    "tensor.reshape": (lambda x: snp.reshape(x, (-1, 2)), x),
    "func.call": (lambda x: snp.cond(True, snp.sum, snp.max, x), x),
    "linalg.transpose": (snp.transpose, x),
    "linalg.fill": (snp.ones_like, x),
}

# Rules of ops that NumPy has no name for: functions in MLIR, which are as
# differentiable as the others. {op: (text of the body, its argument and result)}.
IN_MLIR = {
    "math.round": "%y = math.round %x : f64",
    "math.sincos": "%y, %z = math.sincos %x : f64",
    "scf.execute_region": "%y = scf.execute_region -> f64 {\n scf.yield %x : f64\n }",
    "tensor.insert": "%i = arith.constant 0 : index\n %t = tensor.empty() : tensor<1xf64>\n "
    "%u = tensor.insert %x into %t[%i] : tensor<1xf64>\n %y = tensor.extract %u[%i] : tensor<1xf64>",
    "tensor.splat": "%i = arith.constant 0 : index\n %t = tensor.splat %x : tensor<3xf64>\n "
    "%y = tensor.extract %t[%i] : tensor<3xf64>",
    "tensor.scatter": "%i = arith.constant 0 : index\n %e = arith.constant dense<0.0> : tensor<3xf64>\n "
    "%s = tensor.from_elements %x : tensor<1x1xf64>\n %c = arith.constant dense<[[1]]> : tensor<1x1xindex>\n "
    "%u = tensor.scatter %s into %e[%c] scatter_dims([0]) unique : (tensor<1x1xf64>, tensor<3xf64>, tensor<1x1xindex>) -> tensor<3xf64>\n "
    "%k = arith.constant 1 : index\n %y = tensor.extract %u[%k] : tensor<3xf64>",
}


def table(heading):
    """The rows of a table of derivatives.md: ops, and the second column."""
    section = RULES.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    for line in section.splitlines():
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) > 1 and cells[0].startswith("`"):
            yield re.findall(r"`([\w.]+)`", cells[0]), cells[1]


def program(function, *args):
    return sa.jit(lambda *args: function(*args)).lower(*args).mlir


@pytest.mark.parametrize("op", OPS)
def test_ops_of_the_dialect(op):
    assert re.search(rf"\b{re.escape(op)}\b", program(*OPS[op]))


def test_dialect_is_covered():
    listed = set(re.findall(r"^### `sparse_autograd\.(\w+)`", DIALECT, re.MULTILINE))
    reached = {op.split(".")[1] for op in OPS}
    assert listed - reached == set(MADE_BY_PASSES)


def test_kinds_of_reductions():
    listed = DIALECT.split("\n| kind | value |")[1].split("\n\n")[0]
    kinds = [k for line in listed.splitlines()[2:] for k in re.findall(r"`(\w+)`", line.split("|")[1])]
    functions = {k: getattr(snp, {"norm2": "norm"}.get(k, k)) for k in kinds}
    assert len(functions) >= 9
    values = np.arange(1.0, 7).reshape(2, 3)
    mask = np.array([[True, False, True], [True, True, True]])
    # With a mask of each shape, on dense and on sparse arrays: one program for all.
    f = sa.jit(
        lambda x, m, S: {
            k: (g(x, axis=1, where=m), g(x, where=m[0]), g(S, axis=1, where=snp.pattern(S)))
            for k, g in functions.items()
        },
        optimization_level=0,
    )
    got = f(values, mask, sp.csr_array(np.where(mask, values, 0)))
    for kind, (rows, by_row, sparse) in got.items():
        reference = {
            "norm2": lambda v: np.sqrt((v**2).sum()),
            "logsumexp": lambda v: np.log(np.exp(v).sum()),
        }.get(kind) or getattr(np, kind)
        want = [reference(values[r][mask[r]]) for r in range(2)]
        np.testing.assert_allclose(rows, want, rtol=1e-12, err_msg=kind)
        np.testing.assert_allclose(sparse, want, rtol=1e-12, err_msg=kind)
        np.testing.assert_allclose(by_row, reference(values[:, mask[0]]), rtol=1e-12, err_msg=kind)


def test_rules():
    missing = []
    for heading in ("arith", "math", "Other ops"):
        for ops, _ in table(heading):
            missing += [op for op in ops if op not in RULES_OF and op not in IN_MLIR]
    assert not missing
    reached = {*RULES_OF, *OPS, *IN_MLIR}
    for ops, into in table("Rewritten before"):
        # By the op that it becomes.
        targets = set(re.findall(r"\b[a-z_]+\.[a-z_]+\b", into.replace("scf.forall becomes", "scf.for")))
        targets |= {"scf.for"} if "scf." in into else set()
        assert targets & reached or ops == ["func.call"], (ops, into)


@pytest.mark.parametrize("op", RULES_OF)
def test_rule_from_python(op):
    written = re.escape(op)
    assert re.search(rf"(= |^\s*){written}\b", program(*RULES_OF[op]), re.MULTILINE)


def test_rules_in_mlir():
    functions = [
        sa.mlir_function(f"func.func @f(%x: f64) -> f64 {{\n {body}\n return %y : f64\n}}", name="f")
        for body in IN_MLIR.values()
    ]
    for op, function in zip(IN_MLIR, functions):
        assert op in program(function, 0.7), op
    f = sa.jit(lambda x: [sa.grad(lambda x, g=g: g(x))(x) for g in functions], optimization_level=0)
    np.testing.assert_allclose(f(0.7), [0, np.cos(0.7), 1, 1, 1, 1])
