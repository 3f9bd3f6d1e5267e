#!/usr/bin/env python3
"""Makes the bundle that measures on a GPU: one folder that needs a driver, Python
and NumPy, and nothing else of this project. See README.md."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from kernels import KERNELS, WIDTHS  # noqa: E402

SCRIPTS = ("measure.py", "bench.py", "kernels.py", "compiled.py", "peers.py", "README.md")
LIMIT = 50 << 20


def refuse(why):
    sys.exit(f"build.py: error: {why}")


def source_of(source):
    """The text of a program, for the width that its name ends in."""
    name = re.sub(r"\d+$", "", source)
    if name not in WIDTHS:
        name = source
    path = os.path.join(HERE, "programs", f"{name}.mlir")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if name in WIDTHS:
        width = source[len(name):]
        text, count = re.subn(r"^(!matrix = tensor<\?x)\d+(xf32>)$", rf"\g<1>{width}\g<2>", text,
                              flags=re.MULTILINE)
        if count != 1:
            refuse(f"{path} defines !matrix {count} times")
    return text


def versions_of(path):
    """The newest version of each library that a shared object asks for."""
    done = subprocess.run(["objdump", "-T", path], capture_output=True, text=True, check=True)
    newest = {}
    for name, version in re.findall(r"\((GLIBC|GLIBCXX|CXXABI)_([0-9.]+)\)", done.stdout):
        key = tuple(int(part) for part in version.split("."))
        newest[name] = max(newest.get(name, ()), key)
    return newest


def find_library(name, beside):
    """The file of a library that `beside` is linked with."""
    done = subprocess.run(["ldd", beside], capture_output=True, text=True, check=True)
    match = re.search(rf"^\s*{re.escape(name)} => (\S+)", done.stdout, re.MULTILINE)
    return match and match[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.path.join(HERE, "..", "..", "build")
    parser.add_argument("-o", dest="output", required=True, metavar="DIR",
                        help="the folder to make; an archive of it if it ends in .tar.gz")
    parser.add_argument("--compiler", default=os.path.join(default, "bin", "sparse-compile"))
    parser.add_argument("--libs", default=os.path.join(default, "lib"),
                        help="the folder of the runtime library")
    parser.add_argument("--chips", default="sm_80,sm_90,sm_90a,sm_100",
                        help="chips to assemble kernels for; none if empty")
    parser.add_argument("--ptx", default="sm_80", help="the least chip of the PTX")
    parser.add_argument("--emulate", action="store_true", help="for the emulator too")
    parser.add_argument("--count", action="store_true",
                        help="for the emulator, kernels that count their instructions")
    parser.add_argument("--kernels", default=",".join(KERNELS))
    options = parser.parse_args()
    unknown = [k for k in options.kernels.split(",") if k not in KERNELS]
    if unknown:
        refuse(f"there is no kernel '{unknown[0]}'; there are " + ", ".join(KERNELS))

    packed = options.output.endswith(".tar.gz")
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, "gpu-benchmark") if packed else options.output
        # Apart from the scripts: Python would take copy.so for a module.
        objects = os.path.join(folder, "lib")
        os.makedirs(objects, exist_ok=True)
        target = ["--target=gpu", f"--ptx={options.ptx}"]
        if options.chips:
            target.append(f"--chip={options.chips}")
        if options.emulate or options.count:
            target.append("--emulate")
        if options.count:
            target.append("--count")
        for name in options.kernels.split(","):
            program, source = KERNELS[name].program, KERNELS[name].source
            path = os.path.join(scratch, f"{program}.mlir")
            with open(path, "w", encoding="utf-8") as file:
                file.write(source_of(source))
            done = subprocess.run([options.compiler, path, "-o", os.path.join(objects, program),
                                   *target, *KERNELS[name].options], check=False)
            if done.returncode:
                refuse(f"{program} does not compile")
        runtime = os.path.join(options.libs, "libSparseAutogradRuntime.so")
        libraries = [runtime, find_library("libomp.so.5", runtime)]
        for path in filter(None, libraries):
            shutil.copy(path, objects)
        for script in SCRIPTS:
            shutil.copy(os.path.join(HERE, script), folder)

        newest = {}
        for file in sorted(os.listdir(objects)):
            if ".so" in file:
                for name, version in versions_of(os.path.join(objects, file)).items():
                    newest[name] = max(newest.get(name, ()), version)
        needs = ", ".join(f"{name} {'.'.join(map(str, version))}"
                          for name, version in sorted(newest.items()))
        size = sum(os.path.getsize(os.path.join(root, file))
                   for root, _, files in os.walk(folder) for file in files)
        if size > LIMIT:
            refuse(f"the bundle has {size} bytes, {LIMIT} are allowed")
        if packed:
            with tarfile.open(options.output, "w:gz") as archive:
                archive.add(folder, "gpu-benchmark")
    print(f"{options.output}: {size / 1e6:.1f} MB; needs {needs} or later")


if __name__ == "__main__":
    main()
