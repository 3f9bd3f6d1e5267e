# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asks every tool for its version and its help, and gives it a full disk as standard
output."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

TOOLS = ["sparse-opt", "sparse-runner", "sparse-compile", "sparse-reduce",
         "sparse-lsp-server"]

PROGRAM = """
func.func @f(%x: tensor<?x?xf64> {sparse_autograd.name = "x"}) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  return %x, %x : tensor<?x?xf64>, tensor<?x?xf64>
}
func.func @logs(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    sparse_autograd.log "i" %i : index
  }
  return
}
"""


def run(*command, **options):
    return subprocess.run(command, text=True, capture_output=True, **options)


def check_version(tool):
    result = run(tool, "--version")
    assert result.returncode == 0, result
    assert re.fullmatch(r"sparse-autograd \d+\.\d+\.\d+, with LLVM and MLIR "
                        r"22\.\d+\.\d+\n", result.stdout), result


def check_help(tool):
    result = run(tool, "--help")
    assert result.returncode == 0, result
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"{tool} "), lines[0]
    assert lines[2].startswith(f"EXAMPLE: {tool}"), lines[2]
    usage = [i for i, line in enumerate(lines) if line.startswith("USAGE:")]
    options = lines.index("OPTIONS:")
    assert len(usage) == 1 and usage[0] < options, lines[:12]
    # Options of LLVM's passes and code generators, of which there are hundreds;
    # what is indented deeper is of passes of MLIR.
    for name in ("x86-", "nvptx-", "enable-", "aarch64-", "inline-threshold",
                 "print-after-isel", "vectorize-loops"):
        assert not any(re.match(f"  --{name}", line) for line in lines), name


def fails_with_full_output(*command):
    with open("/dev/full", "w") as full:
        result = subprocess.run(command, text=True, stdout=full,
                                stderr=subprocess.PIPE)
    assert result.returncode == 1, (command, result)
    assert result.stderr == (
        "error: standard output: cannot be written: No space left on device; "
        "check the free space, and what reads the output\n"), (command, result)


def check_full_output(folder):
    for tool in TOOLS:
        fails_with_full_output(tool, "--version")
        fails_with_full_output(tool, "--help")
    program, x = folder / "program.mlir", folder / "x.tns"
    program.write_text(PROGRAM)
    x.write_text("# extents: 1 2\n1 1 5\n")
    fails_with_full_output("sparse-opt", program)
    fails_with_full_output("sparse-opt", program, "-o", "-")
    fails_with_full_output("sparse-runner", program, "--entry=f", f"--arg=x={x}")
    fails_with_full_output("sparse-runner", program, "--entry=logs",
                           "--arg=arg0=2")
    # What goes to a file comes after what is printed: there is neither.
    saved = folder / "saved.npy"
    fails_with_full_output("sparse-runner", program, "--entry=f", f"--arg=x={x}",
                           f"--result=result0={saved}")
    assert not saved.exists()


def check_all_or_none(folder):
    program, x = folder / "program.mlir", folder / "x.tns"
    first, second = folder / "first.npy", folder / "second.smtx"
    first.write_text("before")
    command = ["sparse-runner", program, "--entry=f", f"--arg=x={x}",
               f"--result=result0={first}"]
    # The second cannot be written as it is asked for.
    result = run(*command, f"--result=result1={second}")
    assert result.returncode == 1 and "second.smtx" in result.stderr, result
    assert first.read_text() == "before" and not second.exists()
    result = run(*command, f"--result=result1={first}")
    assert result.returncode == 1 and (
        "two results would have this name" in result.stderr), result
    assert first.read_text() == "before"
    result = run(*command, f"--result=result1={folder / 'second.npy'}")
    assert result.returncode == 0, result
    assert first.read_bytes() == (folder / "second.npy").read_bytes()
    assert not list(folder.glob(".sparse-autograd*"))


def check_signals(folder):
    """A run that is ended leaves no file behind, neither its own nor in the
    folder of temporary ones."""
    temporary = folder / "tmp"
    temporary.mkdir()
    model = folder / "model.mlir"
    # Long to compile, so that signals meet every stage of it.
    ops = "\n".join(f"  %y{i + 1} = math.tanh %y{i} : tensor<?xf64>"
                    for i in range(200))
    model.write_text(f"func.func @f(%y0: tensor<?xf64>) -> tensor<?xf64> {{\n"
                     f"{ops}\n  return %y200 : tensor<?xf64>\n}}\n")
    for number, kind in enumerate((signal.SIGINT, signal.SIGTERM) * 2):
        for path in folder.glob("library.*"):
            path.unlink()
        process = subprocess.Popen(
            ["sparse-compile", model, "-o", folder / "library"],
            env={**os.environ, "TMPDIR": str(temporary)},
            stderr=subprocess.DEVNULL)
        time.sleep(0.1 + 0.2 * number)
        process.send_signal(kind)
        status = process.wait()
        left = {path.name for place in (folder, temporary)
                for path in place.iterdir()
                if path.name.startswith((".sparse-autograd", "sparse-autograd",
                                         "library."))}
        # 1: the linker has missed its files before the signal ended this process.
        assert status in (0, 1, -kind), status
        whole = {"library.so", "library.h"}
        assert left == whole or (status != 0 and not left), (status, left)


def main():
    folder = pathlib.Path(sys.argv[1])
    subprocess.run(["rm", "-rf", folder], check=True)
    folder.mkdir()
    for tool in TOOLS:
        check_version(tool)
        check_help(tool)
    check_full_output(folder)
    check_all_or_none(folder)
    check_signals(folder)


main()
