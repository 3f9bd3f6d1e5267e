# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives every option of the pipeline through three tools, and looks whether every
option of every pass has followed.

The pass pipeline is read from the crash reproducer that each tool writes for a
program that the first pass refuses. An option of a pass is reached if it has
another value in one of the pipelines than in another: the default ones for a CPU
and for a GPU, and those with every option given.
"""

import platform
import re
import subprocess
import sys

FEATURES = ("+neon", "+sve") if platform.machine() == "aarch64" else ("+sse2", "+avx")

# A value for each option of the pipeline that is not its default.
OF_CPU = {
    "cpu": "native", "features": FEATURES[0],
    "threads": "1", "prove-sparsity": "false", "residual-budget": "12345",
    "min-sparsity": "0.75", "min-nnz": "7", "sparse-chunk-work": "11",
    "sparse-vector-bytes": "128",
    "product-24": "sparse",
    "recompute-limit": "13", "block-elements": "17", "group-rows": "false",
    "chunks": "false", "chunk-work": "19", "maximal-partials": "23",
    "product-work": "29", "stream-bytes": "31", "prefetch-bytes": "37",
    "prefetch-distance": "41", "inline-limit": "43", "outline-limit": "47",
    "verify-phases": "false", "unchecked-storage": "true"}
OF_GPU = {
    "cpu": "generic", "features": FEATURES[1],
    "chip": "sm_90a", "ptx": "sm_90", "chip-features": "+ptx85",
    "emulate": "true", "toolkit": "/nowhere", "libraries": "cublaslt,cusparse",
    "whole-rows": "true", "kernel-report": "true"}
# What a tool that runs code, or writes it, has no use for.
OF_PIPELINE_ALONE = {"compile-to"}

PROGRAM = """
func.func private @f(f64) -> f64
func.func @calls(%x: f64 {sparse_autograd.name = "x"}) -> (f64, f64) {
  %l, %d = sparse_autograd.value_and_grad @f(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return %l, %d : f64, f64
}
"""


def get_help(*command):
    return subprocess.run([*command, "--help"], check=True, text=True,
                          capture_output=True).stdout


def parse_passes(text):
    """The options of each pass, from the help of sparse-opt: what is indented
    deeper follows it."""
    options, current = {}, None
    for line in text.splitlines():
        match = re.match(r"( +)--([\w-]+)", line)
        if not match:
            continue
        indent, name = len(match[1]), match[2]
        if name.startswith("sparse-autograd") and indent < 8:
            current = options.setdefault(name, [])
            depth = indent
        elif current is not None and indent > depth:
            current.append(name)
        else:
            current = None
    return options


def read_pipeline(tool, options):
    """{(pass, number of its occurrence): {option: value}}"""
    reproducer = "reproducer.mlir"
    flags = [f"--{name}={value}" for name, value in options.items()]
    if tool == "sparse-opt":
        text = " ".join(f"{name}={value}" for name, value in options.items())
        command = [tool, f"--sparse-autograd={text}",
                   f"--mlir-pass-pipeline-crash-reproducer={reproducer}"]
    elif tool == "sparse-runner":
        command = [tool, *flags, "--arg", "x=1",
                   f"--crash-reproducer={reproducer}"]
        if options.get("target") == "gpu":
            command.append("--device=emulated")
    else:
        command = [tool, *flags, "-o", "library",
                   f"--crash-reproducer={reproducer}"]
    open(reproducer, "w").close()
    result = subprocess.run([*command, "program.mlir"], text=True,
                            capture_output=True)
    with open(reproducer) as file:
        match = re.search(r'pipeline: "(.*)",$', file.read(), re.MULTILINE)
    if not match:
        sys.exit(f"{command} has run no pipeline:\n{result.stderr}")
    passes, counts = {}, {}
    for name, text in re.findall(
            r"(?<![\w-])(sparse-autograd-[\w-]+)(?:\{((?:[^{}]|\{[^{}]*\})*)\})?",
            match[1]):
        number = counts[name] = counts.get(name, 0) + 1
        passes[name, number] = dict(
            re.findall(r"([\w-]+)=(\{[^{}]*\}|[^ ]*)", text))
    return passes


def main():
    with open("program.mlir", "w") as file:
        file.write(PROGRAM)
    declared = parse_passes(get_help("sparse-opt"))
    of_pipeline = set(declared.pop("sparse-autograd"))
    known = {"target", *OF_CPU, *OF_GPU, *OF_PIPELINE_ALONE}
    assert of_pipeline == known, of_pipeline ^ known
    for tool in ("sparse-runner", "sparse-compile"):
        shown = set(re.findall(r"^ +--([\w-]+)", get_help(tool), re.MULTILINE))
        missing = of_pipeline - shown - OF_PIPELINE_ALONE
        assert not missing, f"{tool} --help lacks {missing}"

    pipelines = []
    for target, given in (("cpu", OF_CPU), ("gpu", OF_CPU | OF_GPU)):
        pipelines.append(read_pipeline("sparse-opt", {"target": target}))
        all_given = {"target": target, **given}
        first = read_pipeline("sparse-opt", all_given)
        pipelines.append(first)
        for tool in ("sparse-runner", "sparse-compile"):
            other = read_pipeline(tool, all_given)
            assert other == first, (tool, target, [
                (key, first.get(key), other.get(key))
                for key in {*first, *other} if first.get(key) != other.get(key)])
    # One thread takes fewer passes.
    pipelines.append(read_pipeline(
        "sparse-opt", {"target": "cpu", **OF_CPU, "threads": "0"}))
    names = {name for pipeline in pipelines for name, _ in pipeline}
    for name in sorted(names):
        for option in declared[name]:
            values = {options.get(option, "") for pipeline in pipelines
                      for (other, _), options in pipeline.items()
                      if other == name}
            assert len(values) > 1, (
                f"no option of the pipeline gives '{option}' of {name} "
                f"another value than {values}")
    print(f"options of {len(names)} passes are given through three tools")


main()
