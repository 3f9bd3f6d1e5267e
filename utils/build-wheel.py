#!/usr/bin/env python3
# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A wheel of the Python package with all that it needs: build-wheel.py FOLDER

Builds the package against an installation of the project, or its build tree, and puts
the project's libraries, LLVM and MLIR into the wheel (auditwheel), so that it runs
where none of them is installed. Its BLAS is that of scipy-openblas32, on which it
depends. Prints the file's path; ends with 1 if it is larger than PyPI takes.

The wheel is for the Python that runs this script, and for systems with the C library
of this one or a later one.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import venv

ROOT = pathlib.Path(__file__).resolve().parents[1]
# What PyPI takes without asking.
LIMIT = 100_000_000


def make_environment(folder):
    """An environment with the tools, in the versions that are known to work."""
    venv.create(folder, with_pip=True)
    requirements = [ROOT / "utils" / f"requirements{kind}.txt" for kind in ("", "-wheel")]
    subprocess.run(
        [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        + [word for file in requirements for word in ("--requirement", file)],
        check=True,
    )
    return os.environ | {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def build(folder, prefix, environment):
    """The wheel, which refers to the libraries where they are."""
    subprocess.run(
        ["python", "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
        + ["--no-build-isolation", "--wheel-dir", folder, ROOT / "python"],
        env=environment | {"CMAKE_PREFIX_PATH": os.fspath(prefix)},
        check=True,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def complete(wheel, output, environment):
    """The wheel with the libraries in it."""
    before = set(output.glob("*.whl"))
    done = subprocess.run(
        ["auditwheel", "repair", "--zip-compression-level", "9", "--wheel-dir", output, wheel],
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"auditwheel: {done.stdout}{done.stderr}")
    made = set(output.glob("*.whl"))
    return max(made - before or made, key=lambda file: file.stat().st_mtime)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=pathlib.Path, metavar="FOLDER", help="where the wheel is written")
    parser.add_argument(
        "--prefix",
        type=pathlib.Path,
        default=ROOT / "build",
        help="where the project is installed, or its build tree (build)",
    )
    arguments = parser.parse_args()
    output = arguments.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        environment = make_environment(scratch / "env")
        wheel = build(scratch / "wheel", arguments.prefix.resolve(), environment)
        wheel = complete(wheel, output, environment)
    size = wheel.stat().st_size
    print(wheel)
    if size > LIMIT:
        sys.exit(f"the wheel has {size:,} bytes, more than {LIMIT:,}")


if __name__ == "__main__":
    main()
