"""Arrays and sparse matrices in and out of entries: formats, types, strides, index
widths, ownership; and what is refused."""

import functools
import gc
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import sparse_autograd as sa

MAPS = {
    "csr": "(i, j) -> (i : dense, j : compressed)",
    "csc": "(i, j) -> (j : dense, i : compressed)",
    "coo": "(i, j) -> (i : compressed(nonunique), j : singleton(soa))",
    "bsr": "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, "
    "i mod 2 : dense, j mod 3 : dense)",
}
FLOATS = {"f64": np.float64, "f32": np.float32}
DTYPES = {
    **FLOATS,
    "f16": np.float16,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "i1": np.bool_,
}


@functools.cache
def twice(form, element, width):
    """The entry that doubles a sparse matrix."""
    encoding = f"#sparse_tensor.encoding<{{map = {MAPS[form]}, posWidth = {width}, crdWidth = {width}}}>"
    type_ = f"tensor<?x?x{element}, {encoding}>"
    text = f"""
      func.func @twice(%a: {type_} {{sparse_autograd.name = "a"}}) -> {type_} {{
        %b = arith.addf %a, %a : {type_}
        return %b : {type_}
      }}"""
    return sa.Module.parse(text).compile(optimization_level=1).twice


@functools.cache
def same(element, rank):
    """The entry that returns its tensor."""
    type_ = f"tensor<{'?x' * rank}{element}>"
    text = f"func.func @same(%x: {type_}) -> {type_} {{ return %x : {type_} }}"
    return sa.Module.parse(text).compile(optimization_level=0).same


@st.composite
def matrices(draw, form):
    rows, columns = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    if form == "bsr":
        rows, columns = 2 * rows, 3 * columns
    cells = st.sampled_from([0.0, 0.0, 1.0, -2.5, 0.25])
    dense = np.array(
        draw(st.lists(cells, min_size=rows * columns, max_size=rows * columns))
    ).reshape(rows, columns)
    if form == "bsr":
        matrix = sp.bsr_array(dense, blocksize=(2, 3))
        matrix.sort_indices()
        return matrix
    return getattr(sp, f"{form}_array")(dense)


@pytest.mark.parametrize("form", MAPS)
@given(data=st.data())
def test_sparse(form, data):
    matrix = data.draw(matrices(form))
    element = data.draw(st.sampled_from(sorted(FLOATS)))
    width = data.draw(st.sampled_from([32, 64]))
    matrix = matrix.astype(FLOATS[element])
    result = twice(form, element, width)(matrix)
    assert result.format == form
    assert result.dtype == matrix.dtype
    assert isinstance(result, sp.sparray)
    assert result.shape == matrix.shape
    assert (result.toarray() == 2 * matrix.toarray()).all()
    indices = result.coords[0] if form == "coo" else result.indices
    assert indices.dtype.itemsize * 8 == width
    # It can be given again.
    assert (twice(form, element, width)(result).toarray() == 4 * matrix.toarray()).all()


@pytest.mark.parametrize("form", MAPS)
def test_matrices_give_matrices(form):
    matrix = getattr(sp, f"{form}_matrix")(np.arange(12.0).reshape(4, 3))
    if form == "bsr":
        matrix = sp.bsr_matrix(matrix, blocksize=(2, 3))
    assert isinstance(twice(form, "f64", 32)(matrix), sp.spmatrix)


def test_explicit_zeros_stay():
    matrix = sp.csr_array((np.array([0.0, 1.0]), [0, 2], [0, 1, 2]), shape=(2, 3))
    result = twice("csr", "f64", 32)(matrix)
    assert result.nnz == 2 and list(result.indices) == [0, 2]


@given(data=st.data())
def test_dense(data):
    element = data.draw(st.sampled_from(sorted(DTYPES)))
    rank = data.draw(st.integers(0, 3))
    shape = [data.draw(st.integers(0, 4)) for _ in range(rank)]
    x = np.random.default_rng(0).integers(0, 2, shape).astype(DTYPES[element])
    how = data.draw(st.sampled_from(["as is", "transposed", "reversed", "read-only", "unaligned", "broadcast"]))
    if how == "transposed":
        x = x.T
    if how == "reversed" and rank:
        x = x[::-1]
    if how == "read-only":
        x.setflags(write=False)
    if how == "unaligned":
        raw = np.zeros(x.nbytes + 1, np.uint8)
        y = raw[1:].view(x.dtype).reshape(x.shape)
        y[...] = x
        x = y
    if how == "broadcast" and rank:
        x = np.broadcast_to(x[:1], x.shape) if x.shape[0] else x
    result = same(element, rank)(x)
    assert np.shape(result) == x.shape
    assert result.dtype == x.dtype
    assert (result == x).all()


def test_no_copy_of_inputs():
    address = []
    take = sa._module.ValueType("x", "f64", (None,), None).take
    x = np.arange(4.0)
    (array,), _ = take(x)
    address.append(array.ctypes.data)
    assert address == [x.ctypes.data]
    matrix = sp.csr_array(np.eye(3))
    entry = twice("csr", "f64", 32)
    arrays, extents = entry.arguments[0].take(matrix)
    parts = [matrix.indptr, matrix.indices, matrix.data]
    assert [a.ctypes.data for a in arrays] == [p.ctypes.data for p in parts]
    assert extents == (3, 3)


def test_numbers():
    text = """
      func.func @scale(%x: f32, %n: i64, %b: i1) -> (f32, i64, i1) {
        return %x, %n, %b : f32, i64, i1
      }"""
    scale = sa.Module.parse(text).compile().scale
    assert scale(2, 3, True) == (2.0, 3, True)
    x, n, b = scale(np.float32(0.5), np.int32(-1), np.False_)
    assert (x, n, b) == (0.5, -1, False)
    assert x.dtype == np.float32 and n.dtype == np.int64 and b.dtype == np.bool_
    with pytest.raises(TypeError, match="'arg0' is a number, not an array of shape"):
        scale(np.ones(2), 3, True)
    with pytest.raises(TypeError, match="'arg1' has elements of int64, not float64"):
        scale(1.0, 2.5, True)
    with pytest.raises(TypeError, match="'arg0' has elements of float32, not float64"):
        scale(np.float64(1), 2, True)


def test_bf16_is_its_bits():
    bits = np.array([0x3F80, 0xC000], np.uint16)
    result = same("bf16", 1)(bits)
    assert result.dtype == np.uint16 and (result == bits).all()


def test_other_formats_are_components():
    text = """
      #DCSR = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : compressed)}>
      func.func @twice(%a: tensor<?x?xf64, #DCSR>) -> tensor<?x?xf64, #DCSR> {
        %b = arith.addf %a, %a : tensor<?x?xf64, #DCSR>
        return %b : tensor<?x?xf64, #DCSR>
      }"""
    entry = sa.Module.parse(text).compile().twice
    u = lambda *n: np.array(n, np.int64)
    tensor = sa.SparseTensor([u(0, 1), u(2), u(0, 2), u(0, 3), np.array([1.0, 2.0])], (5, 4))
    result = entry(tensor)
    assert isinstance(result, sa.SparseTensor) and result.shape == (5, 4)
    assert list(result.values) == [2.0, 4.0]
    with pytest.raises(TypeError, match="stored as ANOTHER FORMAT, not CSR: give a SparseTensor"):
        entry(sp.csr_array(np.eye(3)))
    with pytest.raises(TypeError, match="has 5 components, not 1"):
        entry(sa.SparseTensor([np.ones(1)], (5, 4)))


def test_higher_rank_coo():
    text = """
      #COO = #sparse_tensor.encoding<{map = (i, j, k) -> (i : compressed(nonunique), j : singleton(nonunique, soa), k : singleton(soa))}>
      func.func @twice(%a: tensor<?x?x?xf64, #COO>) -> tensor<?x?x?xf64, #COO> {
        %b = arith.addf %a, %a : tensor<?x?x?xf64, #COO>
        return %b : tensor<?x?x?xf64, #COO>
      }"""
    dense = np.zeros((2, 3, 4))
    dense[0, 1, 2], dense[1, 0, 3] = 5, 7
    result = sa.Module.parse(text).compile().twice(sp.coo_array(dense))
    assert (result.toarray() == 2 * dense).all()


def test_refused():
    entry = twice("csr", "f64", 32)
    matrix = sp.csr_array(np.eye(3))
    with pytest.raises(TypeError, match=r"takes 1 arguments, not 2: twice\(a: f64\[\?, \?\] csr\)"):
        entry(matrix, matrix)
    with pytest.raises(TypeError, match=r"'a' is stored as CSR, not CSC: give its tocsr\(\)"):
        entry(matrix.tocsc())
    with pytest.raises(TypeError, match=r"give scipy.sparse.csr_array\(x\), not ndarray"):
        entry(np.eye(3))
    with pytest.raises(TypeError, match=r"not float32: give its astype\(np.float64\)"):
        entry(matrix.astype(np.float32))
    with pytest.raises(TypeError, match=r"give its toarray\(\)"):
        same("f64", 2)(matrix)
    with pytest.raises(TypeError, match="has 2 dimensions, not 1"):
        same("f64", 2)(np.ones(3))
    with pytest.raises(TypeError, match="cannot be made an array of float64|has elements of float64"):
        same("f64", 1)(["a"])
    with pytest.raises(TypeError, match="is no masked array: give its data"):
        same("f64", 1)(np.ma.masked_array(np.ones(2), [True, False]))
    blocks = twice("bsr", "f64", 32)
    with pytest.raises(TypeError, match=r"has blocks of \(2, 3\), not \(1, 1\): give its tobsr"):
        blocks(sp.bsr_array(np.eye(6), blocksize=(1, 1)))
    wide = sp.csr_array(np.eye(3))
    wide.indices = wide.indices.astype(np.int64)
    wide.indices[0] = 2**40
    with pytest.raises(TypeError, match="indices beyond those of int32"):
        entry(wide)


@pytest.mark.parametrize(
    "form, indices, indptr",
    [("csr", [2, 0, 1], [0, 2, 3]), ("csr", [1, 1, 0], [0, 2, 3]), ("csr", [0, 7, 1], [0, 2, 3])],
)
def test_invalid_storage(form, indices, indptr):
    matrix = sp.csr_array((2, 3))
    matrix.indices = np.array(indices, np.int32)
    matrix.indptr = np.array(indptr, np.int32)
    matrix.data = np.ones(3)
    with pytest.raises(sa.ArgumentError, match=r"argument 'a': level 1[^\n]*\ncall sum_duplicates") as info:
        twice(form, "f64", 32)(matrix)
    assert info.value.diagnostics[0].severity == "error"


def test_results_outlive_the_engine_in_any_order():
    gc.collect()
    before = sa.counters()["live_blocks"]
    text = """
      func.func @both(%x: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
        %y = arith.addf %x, %x : tensor<?xf64>
        return %x, %y : tensor<?xf64>, tensor<?xf64>
      }"""
    executable = sa.Module.parse(text).compile()
    x, y = executable.both(np.arange(3.0))
    entry = executable.both
    assert sa.counters()["live_blocks"] == before + 2
    del executable
    assert (entry(y)[1] == [0, 4, 8]).all()
    del entry
    gc.collect()
    view = y[1:]
    del y
    assert list(view) == [2, 4] and list(x) == [0, 1, 2]
    x += 1  # It is the caller's.
    del x, view
    gc.collect()
    assert sa.counters()["live_blocks"] == before


def test_many_calls_leave_nothing():
    entry = twice("csr", "f64", 32)
    matrix = sp.csr_array(np.eye(50))
    gc.collect()
    before = sa.counters()["live_blocks"]
    for _ in range(10000):
        entry(matrix)
    gc.collect()
    assert sa.counters()["live_blocks"] == before


def test_threads():
    entry, failures = twice("csr", "f64", 32), []
    matrix = sp.csr_array(np.eye(200))

    def work():
        own = sa.Module.parse(
            "func.func @f(%x: tensor<?xf64>) -> tensor<?xf64> { return %x : tensor<?xf64> }"
        ).compile()
        for n in range(100):
            if entry(matrix).nnz != 200 or list(own.f(np.full(3, float(n)))) != [n] * 3:
                failures.append(n)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
