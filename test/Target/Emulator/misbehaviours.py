# Kernels that misbehave, in every shape: each is reported, with its block, its thread and
# its instruction, and its well-behaved twin is not.
#
# A row of the table is a few instructions with one number or another in them: with one
# they misbehave. One thread of a launch executes that one, in a branch, in a loop, in a
# function, or in a function that a function calls; all others execute the twin.
#
# RUN: %python %s | FileCheck %s
# CHECK: {{[1-9][0-9]+}} kernels, 0 failures

import os
import subprocess
import sys
import tempfile

HEADER = """target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
@dynamic = external addrspace(3) global [0 x i32], align 16
define i32 @deep(i32 %n) noinline {
  %c = icmp eq i32 %n, 0
  br i1 %c, label %z, label %m
z:
  ret i32 0
m:
  %n1 = sub i32 %n, 1
  %r = call i32 @deep(i32 %n1)
  %s = add i32 %r, %n
  ret i32 %s
}
define i32 @even(i32 %n) noinline {
  %r = call i32 @odd(i32 %n)
  %s = xor i32 %r, 1
  ret i32 %s
}
define i32 @odd(i32 %n) noinline {
  %a = alloca [8 x i32]
  store i32 %n, ptr %a
  %c = icmp sle i32 %n, 1
  br i1 %c, label %z, label %m
z:
  ret i32 %n
m:
  %n1 = sub i32 %n, 2
  %r = call i32 @even(i32 %n1)
  %v = load i32, ptr %a
  %s = add i32 %r, %v
  ret i32 %s
}
define void @set(ptr %p, i32 %i) noinline {
  %q = getelementptr i32, ptr %p, i32 %i
  store i32 %i, ptr %q
  ret void
}
"""
LAUNCH = ["--grid=2", "--block=64", "--shared=512"]
# Numbers from 0, zeros, and what nothing has written.
ARGUMENTS = ["i32:128:iota", "i32:128:zero", "i32:128:none"]
PARAMETERS = "ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %u"
VALUES = "ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %u, i32 %i, i32 %t"

LOAD = """  %p = getelementptr i32, ptr addrspace(1) %x, i32 {N}
  %d = load i32, ptr addrspace(1) %p
"""
ZERO = "divides an integer by zero"
OVERFLOW = "divides the least integer by -1"


def divisions():
    for op in ("sdiv", "udiv", "srem", "urem"):
        yield op, "", LOAD + f"  %r = {op} i32 7, %d\n", 0, 1, ZERO, op
        yield (f"{op}-i64", "", LOAD + "  %w = zext i32 %d to i64\n"
               f"  %r = {op} i64 7, %w\n", 0, 1, ZERO, op)
        yield (f"{op}-vector", "", LOAD +
               "  %v = insertelement <2 x i32> splat (i32 3), i32 %d, i32 1\n"
               f"  %r = {op} <2 x i32> splat (i32 7), %v\n", 0, 1, ZERO, op)
    for op in ("sdiv", "srem"):
        for width in (8, 32, 64):
            yield (f"least-{op}-i{width}", "", LOAD + "  %e = sub i32 %d, 1\n" + {
                8: "  %w = trunc i32 %e to i8\n", 32: "  %w = add i32 %e, 0\n",
                64: "  %w = sext i32 %e to i64\n"}[width] +
                f"  %r = {op} i{width} {-2 ** (width - 1)}, %w\n", 0, 2, OVERFLOW, op)


ARRAY = "  %a = alloca [4 x i32], align 4\n  %b = alloca [4 x i32], align 4\n"
PLACE = "  %p = getelementptr i32, ptr %a, i32 {N}\n"
OUTSIDE = "of a local variable of 16 bytes"


def rows():
    """Name, variables, instructions, the number that is wrong, one that is right, what
    the report says, and the instruction."""
    yield from divisions()
    for distance in (4, 5, -1, 400, 100000000, -100000000):
        yield (f"local-store-{distance}", ARRAY, PLACE + "  store i32 1, ptr %p\n",
               distance, 3, f"writes 4 bytes at offset {4 * distance} {OUTSIDE}", "store")
        yield (f"local-load-{distance}", ARRAY, "  store i32 1, ptr %a\n" + PLACE +
               "  %v = load volatile i32, ptr %p\n", distance, 0,
               f"4 bytes at offset {4 * distance} {OUTSIDE}", "load")
    # By a pointer of which the function does not know what it is into.
    for distance in (4, -1, 6, 7):
        yield (f"local-passed-{distance}", ARRAY, "  call void @set(ptr %a, i32 {N})\n",
               distance, 3, "of a local variable of ", "@set:2: store")
    yield ("local-unwritten", ARRAY, "  store i32 1, ptr %a\n" + PLACE +
           "  %v = load i32, ptr %p\n", 1, 0,
           f"reads 4 bytes at offset 4 {OUTSIDE} [", "load")
    half = ("  %p = getelementptr i32, ptr addrspace(1) {P}, i32 %i\n")
    for name, access, mark in (
            ("load", "  %v = load i32, ptr addrspace(1) %p\n", "load"),
            ("volatile", "  %v = load volatile i32, ptr addrspace(1) %p\n", "load"),
            ("update", "  %v = atomicrmw add ptr addrspace(1) %p, i32 1 monotonic\n",
             "atomicrmw"),
            ("exchange", "  %v = cmpxchg ptr addrspace(1) %p, i32 1, i32 2 monotonic "
             "monotonic\n", "cmpxchg")):
        # The number says whether it has been written: to one buffer or the other.
        yield (f"unwritten-{name}", "", "  %w = icmp eq i32 {N}, 0\n"
               "  %o = select i1 %w, ptr addrspace(1) %u, ptr addrspace(1) %y\n" +
               half.replace("{P}", "%o") + access, 0, 1,
               "of a buffer of 512 bytes, of which nothing has written byte", mark)
    yield ("unwritten-copy", "", "  %w = icmp eq i32 {N}, 0\n"
           "  %o = select i1 %w, ptr addrspace(1) %u, ptr addrspace(1) %y\n" +
           half.replace("{P}", "%o") +
           "  %s = getelementptr i32, ptr addrspace(3) @dynamic, i32 %t\n"
           "  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) %s, ptr addrspace(1) %p, "
           "i64 4, i1 false)\n", 0, 1, "of which nothing has written byte", "memcpy")
    yield ("unwritten-shared", "", "  %s = getelementptr i32, ptr addrspace(3) @dynamic, "
           "i32 %t\n  %w = icmp eq i32 {N}, 0\n  %k = add i32 %t, 64\n"
           "  %m = select i1 %w, i32 %k, i32 %t\n"
           "  %q = getelementptr i32, ptr addrspace(3) @dynamic, i32 %m\n"
           "  store i32 1, ptr addrspace(3) %s\n  %v = load i32, ptr addrspace(3) %q\n",
           0, 1, "of shared memory, of which no thread has written", "load")
    for distance in (128, 1000000, -129):
        yield (f"global-{distance}", "", LOAD, distance, 5, "reads 4 bytes at address",
               "load")
    yield ("misaligned", "", "  %p = getelementptr i32, ptr addrspace(1) %x, i32 {N}\n"
           "  %v = load <2 x i32>, ptr addrspace(1) %p, align 8\n", 1, 2,
           "which is not aligned to 8 bytes", "load")
    for name in ("deep", "even"):
        yield (f"recursion-{name}", "", f"  %v = call i32 @{name}(i32 {{N}})\n", 1000000,
               10, "has used up its stack", "call i32 @")


def rename(text, prefix):
    """The instructions with names of their own; parameters keep theirs."""
    kept = ("%x", "%y", "%u", "%i", "%t")
    parts = []
    for part in text.split("%"):
        name = part[:len(part) - len(part.lstrip("abcdefghijklmnopqrstuvwxyz0123456789"))]
        parts.append(part if "%" + name in kept or not name else prefix + part)
    return "%".join([text.split("%")[0]] + parts[1:])


def kernel(name, shape, variables, body, bad, good):
    """A kernel in which thread 37 of block 1 executes the body with `bad`."""
    def case(prefix, number):
        return rename(body.replace("{N}", str(number)), prefix)

    helpers = ""
    arguments = "(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %u, i32 %i, i32 %t)"
    entry = rename(variables, "g") + rename(variables, "b")
    if shape in ("function", "nested"):
        entry = ""
        for which, number in (("good", good), ("bad", bad)):
            helpers += (f"define void @{name}_{which}_in({VALUES}) noinline {{\n"
                        f"{rename(variables, 'a')}{case('a', number)}  ret void\n}}\n")
            target = f"{name}_{which}_in"
            if shape == "nested":
                helpers += (f"define void @{name}_{which}_out({VALUES}) noinline {{\n"
                            f"  call void @{target}{arguments}\n  ret void\n}}\n")
                target = f"{name}_{which}_out"
            if which == "good":
                normal = f"  call void @{target}{arguments}\n"
            else:
                wrong = f"  call void @{target}{arguments}\n"
    else:
        normal, wrong = case("g", good), case("b", bad)
    start = f"""{entry}  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %before = mul i32 %block, 64
  %i = add i32 %before, %t
  %one = icmp eq i32 %i, 101
"""
    if shape == "loop":
        code = f"""{start}  br label %head
head:
  %number = phi i32 [ 0, %0 ], [ %next, %tail ]
  %third = icmp eq i32 %number, 3
  %both = and i1 %one, %third
  br i1 %both, label %wrong, label %normal
wrong:
{wrong}  br label %tail
normal:
{normal}  br label %tail
tail:
  %next = add i32 %number, 1
  %more = icmp ult i32 %next, 5
  br i1 %more, label %head, label %end
end:
  ret void
"""
    else:
        code = f"""{start}  br i1 %one, label %wrong, label %normal
wrong:
{wrong}  br label %end
normal:
{normal}  br label %end
end:
  ret void
"""
    return f"{helpers}define ptx_kernel void @{name}({PARAMETERS}) {{\n{code}}}\n"


def main():
    failures = count = 0
    table = list(rows())
    for shape in ("branch", "loop", "function", "nested"):
        expected, text = {}, HEADER
        text += "declare void @llvm.memcpy.p3.p1.i64(ptr addrspace(3), ptr addrspace(1), i64, i1)\n"
        for name, variables, body, bad, good, says, place in table:
            symbol = name.replace("-", "_").replace("__", "_minus_")
            for wrong in (True, False):
                full = symbol + ("" if wrong else "_twin")
                text += kernel(full, shape, variables, body, bad if wrong else good, good)
                expected[full] = (says, place) if wrong else None
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernels.ll")
            with open(path, "w") as stream:
                stream.write(text)
            for seed in ("0", "3"):
                output = subprocess.run(
                    ["emulate-kernel", path, "--each", f"--seed={seed}", "--print=9",
                     *LAUNCH, *ARGUMENTS], capture_output=True, text=True)
                if output.returncode:
                    sys.exit(f"{shape}: {output.returncode} {output.stderr}\n{text}")
                reports = dict.fromkeys(expected)
                for line in output.stdout.splitlines():
                    if line.startswith("kernel "):
                        current = line.split()[1]
                    elif line.startswith("error: "):
                        reports[current] = line
                for name, wanted in expected.items():
                    count += 1
                    report = reports[name]
                    if wanted is None:
                        good = report is None
                    else:
                        good = report is not None and all(part in report for part in (
                            f"kernel '{name}', block (1, 0, 0), thread (37, 0, 0) ",
                            wanted[0], ", at [@", wanted[1], f"(seed {seed})"))
                    if not good:
                        failures += 1
                        print(f"{shape}, seed {seed}, {name}: expected {wanted}, "
                              f"not {report}")
    print(f"{count} kernels, {failures} failures")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
