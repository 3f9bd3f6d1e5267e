"""Programs in MLIR: parse, print, run, compile, load; errors as exceptions."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import sparse_autograd as sa

PROGRAM = """
func.func private @loss(%x: tensor<?xf64>) -> tensor<f64> {
  %s = arith.mulf %x, %x : tensor<?xf64>
  %l = sparse_autograd.masked_reduce sum %s dims = [0] : tensor<?xf64> -> tensor<f64>
  return %l : tensor<f64>
}
func.func @gradient(%x: tensor<?xf64>) -> tensor<?xf64> {
  %l, %d = sparse_autograd.value_and_grad @loss(%x) {wrt = [0]} : (tensor<?xf64>) -> (tensor<f64>, tensor<?xf64>)
  return %d : tensor<?xf64>
}
"""


def test_phases_and_passes():
    module = sa.Module.parse(PROGRAM, "loss.mlir")
    assert "sparse_autograd.value_and_grad" in module.mlir
    assert "loss.mlir" not in module.mlir and "loss.mlir" in module.print(locations=True)
    assert '"func.func"' in module.print(generic=True)
    copy = module.clone()
    assert "sparse_autograd.value_and_grad" not in copy.run("differentiate").mlir
    assert "sparse_autograd.value_and_grad" in module.mlir
    seen = []
    module.clone().run("target", handler=lambda phase, text: seen.append((phase, "llvm.func" in text)))
    assert seen == [("differentiate", False), ("select-formats", False), ("lower-sparse", False), ("target", True)]
    module.run("sparse-autograd-differentiate,func.func(canonicalize,cse)")
    assert "@gradient" in module.mlir


def test_compile():
    before = sa.compilation_count()
    executable = sa.Module.parse(PROGRAM).compile(threads=1)
    assert sa.compilation_count() == before + 1
    assert list(executable.entries) == ["gradient"] and "gradient" in dir(executable)
    assert (executable["gradient"](np.arange(3.0)) == [0, 2, 4]).all()
    assert executable.gradient.signature == "gradient(arg0: f64[?]) -> (result0: f64[?])"
    with pytest.raises(KeyError, match="no entry 'other'; there are: gradient"):
        executable["other"]
    with pytest.raises(AttributeError, match="no entry 'other'; there are: gradient"):
        executable.other
    lowered = sa.Module.parse(PROGRAM).run("target").compile()
    assert (lowered.gradient(np.ones(2)) == 2).all()


def test_gpu_on_the_emulator():
    executable = sa.Module.parse(PROGRAM).compile(target="gpu", device="emulated")
    assert (executable.gradient(np.arange(3.0)) == [0, 2, 4]).all()


def test_diagnostics():
    with pytest.raises(sa.ProgramError, match="^bad.mlir:1:35: use of undeclared SSA value name") as info:
        sa.Module.parse("func.func @f() -> f32 {    return %x : f32 }", "bad.mlir")
    (diagnostic,) = info.value.diagnostics
    assert diagnostic == sa.Diagnostic("error", "bad.mlir", 1, 35, "use of undeclared SSA value name")
    assert isinstance(info.value, ValueError)
    module = sa.Module.parse(PROGRAM)
    with pytest.raises(sa.ProgramError, match="no such option treads"):
        module.run("lower-sparse", treads=1)
    with pytest.raises(sa.ProgramError, match="'nothing' does not refer to a registered pass"):
        module.run("nothing")
    with pytest.raises(TypeError, match="go with a phase"):
        module.run("cse", threads=1)
    with pytest.raises(sa.ProgramError, match="no kind of device called 'abacus'"):
        module.compile(device="abacus")
    with pytest.raises(sa.ProgramError, match="no public function to compile"):
        sa.Module.parse("").compile()
    with pytest.raises(FileNotFoundError):
        sa.Module.parse_file("missing.mlir")


def test_a_handler_stops_the_pipeline():
    def stop(phase, text):
        raise KeyboardInterrupt(phase)

    with pytest.raises(KeyboardInterrupt, match="differentiate"):
        sa.Module.parse(PROGRAM).compile(handler=stop)
    with pytest.raises(KeyboardInterrupt, match="differentiate"):
        sa.Module.parse(PROGRAM).run("target", handler=stop)


def test_run_time_errors():
    text = """
      func.func @add(%x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
        %z = arith.addf %x, %y : tensor<?xf64>
        return %z : tensor<?xf64>
      }
      func.func @rows(%t: tensor<?x?xf64>, %i: tensor<?xindex>) -> tensor<?x?xf64> {
        %r = sparse_autograd.gather %t, %i : tensor<?x?xf64>, tensor<?xindex> -> tensor<?x?xf64>
        return %r : tensor<?x?xf64>
      }"""
    executable = sa.Module.parse(text, "add.mlir").compile()
    with pytest.raises(sa.ArgumentError, match="add.mlir:3") as info:
        executable.add(np.ones(2), np.ones(3))
    assert isinstance(info.value, ValueError)
    with pytest.raises(sa.ArgumentError, match="add.mlir:7:[0-9]+: .*out-of-bounds access"):
        executable.rows(np.ones((2, 2)), np.array([0, 5]))


def test_load(tmp_path):
    compiler = shutil.which("sparse-compile")
    if compiler is None:
        pytest.skip("sparse-compile is not in PATH")
    (tmp_path / "loss.mlir").write_text(PROGRAM)
    subprocess.run([compiler, "loss.mlir", "-o", "loss"], cwd=tmp_path, check=True)
    library = sa.load(tmp_path / "loss.so")
    assert (library.gradient(np.arange(3.0)) == [0, 2, 4]).all()
    with pytest.raises(sa.NotFoundError, match="cannot open shared object file"):
        sa.load(tmp_path / "other.so")


def test_a_forked_process_compiles():
    script = f"""
import os, numpy as np, sparse_autograd as sa
text = '''{PROGRAM}'''
entry = sa.Module.parse(text).compile(threads=1).gradient
child = os.fork()
if child == 0:
    ok = (entry(np.ones(2)) == 2).all()
    ok &= (sa.Module.parse(text).compile(threads=1).gradient(np.ones(2)) == 2).all()
    os._exit(0 if ok else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=20, env=os.environ)
