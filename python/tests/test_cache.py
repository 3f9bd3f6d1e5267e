"""Compiled code on disk, shared by processes."""

import logging
import os
import pathlib
import subprocess
import sys

import numpy as np

import sparse_autograd as sa
import sparse_autograd.numpy as snp

# A function of one line, so that its locations are the same in all processes.
PROGRAM = """
import numpy as np, scipy.sparse as sp, sparse_autograd as sa, sparse_autograd.numpy as snp
f = sa.value_and_grad(lambda A, x: snp.sum(snp.tanh(A @ x) ** 2), wrt=(0, 1))
for n in (3, 4):
    value, dA, dx = f(sp.csr_array(np.eye(n)), np.ones(n))
print(f.compilations, f.cache_hits, f.report["compilations"], f.report["cache_hits"], value.hex())
"""


def run(folder, program=PROGRAM, **environment):
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env=os.environ | {"SPARSE_AUTOGRAD_CACHE": str(folder)} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return lambda: _finish(process)


def _finish(process):
    out, error = process.communicate()
    assert process.returncode == 0, error
    return (*out.split(), error)


def entries(folder):
    return sorted(pathlib.Path(folder).glob("llvmcache-*"))


def test_processes(tmp_path):
    *counts, value, said = run(tmp_path)()
    assert counts == ["1", "0", "1", "0"] and not said
    *counts, again, said = run(tmp_path)()
    assert counts == ["1", "1", "1", "1"] and again == value and not said
    *counts, again, said = run("off")()
    assert counts == ["1", "0", "1", "0"] and again == value and not said
    assert len(entries(tmp_path)) == 1
    # A folder below the user's own is made.
    *counts, _, _ = run("", XDG_CACHE_HOME=str(tmp_path / "home"))()
    assert counts[1] == "0" and len(entries(tmp_path / "home/sparse-autograd")) == 1


def test_at_the_same_time(tmp_path):
    results = [finish() for finish in [run(tmp_path) for _ in range(4)]]
    assert len({value for *_, value, _ in results}) == 1
    assert all(not said for *_, said in results)
    assert len(entries(tmp_path)) == 1
    assert run(tmp_path)()[1] == "1"


def function():
    return sa.jit(lambda x: x * 3, cache=function.folder)


def test_broken_entries(tmp_path, caplog):
    function.folder = tmp_path
    assert function()(2.0) == 6
    (entry,) = entries(tmp_path)
    whole = entry.read_bytes()
    for content in (b"", b"something else", whole[:100], whole[:-1] + b"!"):
        entry.write_bytes(content)
        caplog.clear()
        f = function()
        assert f(2.0) == 6 and f.compilations == 1 and f.cache_hits == 0
        (record,) = caplog.records
        assert record.name == "sparse_autograd" and record.levelno == logging.WARNING
        assert "is not used" in record.getMessage()
        # What is there now is whole again.
        assert entry.read_bytes() == whole
    caplog.clear()
    f = function()
    assert f(2.0) == 6 and f.cache_hits == 1 and not caplog.records


def test_what_the_code_depends_on(tmp_path):
    text = "func.func @f(%x: f64) -> f64 {\n  %y = arith.addf %x, %x : f64\n  return %y : f64\n}"

    def is_found(text, name="f.mlir", **options):
        return sa.Module.parse(text, name).compile(cache=tmp_path, **options).is_cached

    assert not is_found(text) and is_found(text)
    assert not is_found(text, optimization_level=1) and is_found(text, optimization_level=1)
    assert not is_found(text, cpu="x86-64-v2") and is_found(text, cpu="x86-64-v2")
    assert not is_found(text, threads=1)
    assert not is_found(text.replace("addf", "mulf"))
    # The messages of assertions have locations.
    assert not is_found("\n" + text) and not is_found(text, "g.mlir")
    # A handler is called for each phase.
    phases = []
    assert not is_found(text, handler=lambda phase, mlir: phases.append(phase))
    assert len(phases) == 4
    assert is_found(text)


def test_limit(tmp_path):
    limit = 30000
    program = """
import sys, numpy as np, sparse_autograd as sa
text = "func.func @f(%x: tensor<?xf64>) -> tensor<?xf64> {\\n %y = arith.addf %x, %x : tensor<?xf64>\\n return %y : tensor<?xf64>\\n}"
for i in range(12):
    sa.Module.parse(text.replace("@f", f"@f{i}")).compile()
print(1)
"""
    run(tmp_path, program, SPARSE_AUTOGRAD_CACHE_BYTES=str(limit))()
    sizes = [e.stat().st_size for e in entries(tmp_path)]
    assert 0 < sum(sizes) <= limit and len(sizes) < 12


def test_verbose(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="sparse_autograd")
    for _ in range(2):
        caplog.clear()
        np.testing.assert_equal(sa.jit(lambda x: x + 1, cache=tmp_path, verbose=True)(1.0), 2.0)
    assert [r.getMessage().split(":")[0] for r in caplog.records] == ["from the cache"]
