# The configuration of the tests: how they are found and run, which tools they
# may name, and which features they may require.

import glob
import os

import lit.formats
import lit.util

config.name = "SparseAutograd"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".c", ".cpp", ".py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.project_binary_dir, "test")

# Inputs are fragments for split-file or data; lib and tools hold what tests
# run. Unit is found as a suite of its own, by its configuration.
config.excludes = ["Inputs", "lib", "tools", "lit.cfg.py"]

# The project's tools, then FileCheck, not, split-file and the stock mlir-opt.
# Nothing else of the caller's PATH gets in, so that every machine runs the
# same programs.
config.environment["PATH"] = os.pathsep.join(
    [config.tools_dir, config.llvm_tools_dir, "/usr/bin", "/bin"]
)

# Generated results must not depend on the caller's locale or threads.
config.environment["LC_ALL"] = "C.UTF-8"
# The tests themselves run in parallel; those of threads say how many.
config.environment["OMP_NUM_THREADS"] = "1"
# What each phase of the pipeline leaves is verified, as with `verify-phases`.
config.environment["SPARSE_AUTOGRAD_VERIFY_PHASES"] = "1"
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
# What a test compiles is compiled; those of the cache have folders of their own.
config.environment["SPARSE_AUTOGRAD_CACHE"] = "off"

config.substitutions += [
    ("%python", config.python),
    ("%cmake", config.cmake),
    ("%cxx", config.cxx_compiler),
    ("%cc", config.c_compiler),
    ("%source_dir", config.project_source_dir),
    ("%binary_dir", config.project_binary_dir),
    ("%libs_dir", config.libs_dir),
    ("%llvm_prefix", config.llvm_prefix),
    (
        "%sanitizer_flags",
        # As AddSparseAutograd.cmake has them: compiled code carries no types.
        "-fsanitize=" + ",".join(config.sanitizers) + " -fno-sanitize=vptr,function"
        if config.sanitizers
        else "",
    ),
]

for tool in config.tools:
    config.available_features.add(tool)
config.available_features.add(config.build_type.lower())
if config.fuzzers:
    config.available_features.add("fuzzers")
if config.openblas:
    config.available_features.add("openblas")
if config.cuda_toolkit and os.access(
        os.path.join(config.cuda_toolkit, "bin", "ptxas"), os.X_OK):
    config.available_features.add("ptxas")
# The package of the build tree; under sanitizers there is none.
if glob.glob(os.path.join(config.project_binary_dir, "python/sparse_autograd/_core*")):
    config.available_features.add("python-package")
# A Python of the build's version that has torch and JAX (docs/python.md): the package's
# functions of their arrays are tested with it.
frameworks = os.environ.get("SPARSE_AUTOGRAD_FRAMEWORKS", "")
if frameworks and "python-package" in config.available_features:
    config.available_features.add("frameworks")
    config.substitutions.append(("%frameworks_python", frameworks))
# Builds and runs the wheel, which takes minutes and the network.
if os.environ.get("SPARSE_AUTOGRAD_WHEEL") and "python-package" in config.available_features:
    config.available_features.add("wheel")
if lit.util.which("mlir-runner", config.llvm_tools_dir):
    config.available_features.add("stock-mlir-opt")
# The sanitizer's runtime is a package of its own (Debian: libclang-rt-22-dev).
if lit.util.which("clang", config.llvm_tools_dir) and glob.glob(
    os.path.join(config.llvm_prefix, "lib/clang/*/lib/*/libclang_rt.asan-x86_64.so")
):
    config.available_features.add("clang-asan")

if "address" in config.sanitizers:
    config.available_features.add("asan")
    # libMLIR and libLLVM are not instrumented, so a container that crosses
    # their boundary would be reported as overflowing, and memory that our side
    # of LLVM's allocators poisons would never be unpoisoned on theirs.
    config.environment["ASAN_OPTIONS"] = (
        "detect_leaks=1:detect_container_overflow=0:allow_user_poisoning=0:"
        "allocator_may_return_null=1"
    )
    config.environment["LSAN_OPTIONS"] = "print_suppressions=0:suppressions=" + (
        os.path.join(config.test_source_root, "lsan-suppressions.txt")
    )
    config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"
    config.environment["ASAN_SYMBOLIZER_PATH"] = os.path.join(
        config.llvm_tools_dir, "llvm-symbolizer"
    )

# Real data sets are not part of the project. Where a copy is present, the
# tests that need it run; elsewhere they are reported as unsupported.
data = os.environ.get("SPARSE_AUTOGRAD_DATA") or os.path.join(
    config.project_source_dir, os.pardir, "shared", "data"
)
data = os.path.abspath(data)
config.substitutions.append(("%data", data))
config.environment["SPARSE_AUTOGRAD_DATA"] = data
for feature, path in [
    ("ratings-data", "ratings/ml-latest-small.ratings.csv.gz"),
    ("graph-data", "graphs/cora.npz"),
    ("matrix-data", "matrices/1138_bus.mtx"),
    ("dlmc-data", "dlmc/transformer.magnitude.0.98.enc0_ffn1.smtx"),
    ("weight-data", "weights/mlperf_tiny.ad01_fp32.tflite"),
]:
    if os.path.exists(os.path.join(data, path)):
        config.available_features.add(feature)

# Campaigns: with `--param long=1`, as the target check-long has it, tests that draw
# their inputs draw many more (`%if long %{--count 100000%} %else %{--count 2000%}`).
long_run = lit_config.params.get("long", "0") == "1"
if long_run:
    config.available_features.add("long")

# A test that hangs fails instead of holding up the run (lit needs psutil for
# it, which the build's own Python has).
if lit.util.killProcessAndChildrenIsSupported()[0] and not long_run:
    lit_config.maxIndividualTestTime = 600
