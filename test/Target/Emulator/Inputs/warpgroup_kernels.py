# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels with products of a warpgroup, as MLIR. Tiles of A (64 rows) and B (n
rows: B is given column by column) come by copies of tiles; each thread stores its
sums one after the other."""

from dataclasses import dataclass

ELEMENT = {"f16": "f16", "bf16": "bf16", "tf32": "f32"}
BYTES = {"f16": 2, "bf16": 2, "tf32": 4}


@dataclass
class Kernel:
    name: str
    factors: str = "f16"
    sums: str = "f32"
    n: int = 64
    span: int = 128  # that is swizzled
    sparse: bool = False
    registers: bool = False
    transposes_b: bool = False
    # What the kernel does wrong: "", "no wait", "no fence", "early wait".
    mistake: str = ""

    @property
    def stored_step(self):
        return 32 // BYTES[self.factors]

    @property
    def step(self):
        return self.stored_step * (2 if self.sparse else 1)

    @property
    def steps(self):
        return self.span // (64 if self.sparse else 32)

    @property
    def k(self):
        return self.step * self.steps

    @property
    def registers_of_sums(self):
        return self.n // 4 if self.sums == "f16" else self.n // 2

    @property
    def span_of_a(self):
        return self.span // 2 if self.sparse else self.span

    def get_function(self):
        mnemonic = f"wgmma.mma_async.{'sp.' if self.sparse else ''}sync.aligned"
        mnemonic += f".m64n{self.n}k{self.step}.{self.sums}.{self.factors}"
        mnemonic += f".{self.factors}"
        return f"sparse_autograd.{mnemonic}{'.registers' if self.registers else ''}"

    def get_synchronization(self, name):
        letter = "i" if self.sums == "f16" else "f"
        return (
            f"sparse_autograd.wgmma.{name}.sync.aligned."
            f"{letter}32x{self.registers_of_sums}"
        )

    def get_struct(self):
        element = "i32" if self.sums == "f16" else "f32"
        return f"!llvm.struct<({', '.join([element] * self.registers_of_sums)})>"


SWIZZLE = {0: 0, 128: 1, 64: 2, 32: 3}


def make_declarations(kernel):
    struct = kernel.get_struct()
    a = ["i32"] * 4 if kernel.registers else ["i64"]
    sparse = ["i32", "i32"] if kernel.sparse else []
    types = ", ".join([struct, *a, "i64", *sparse, *["i32"] * 5])
    return {
        f'    llvm.func @"{kernel.get_function()}"({types}) -> {struct} attributes {{convergent, no_unwind}}',
        f'    llvm.func @"{kernel.get_synchronization("fence")}"({struct}) -> {struct} attributes {{convergent, no_unwind}}',
        f'    llvm.func @"{kernel.get_synchronization("wait_group")}"({struct}, i32) -> {struct} attributes {{convergent, no_unwind}}',
    }


def make_kernel(kernel):
    k = kernel
    struct = k.get_struct()
    element = "i32" if k.sums == "f16" else "f32"
    value = ELEMENT[k.factors]
    bytes_a = 64 * k.span_of_a
    bytes_b = k.n * k.k * BYTES[k.factors]
    byval = "{llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64}"
    lines = [
        f"    gpu.func @{k.name}(%x: !llvm.ptr<1>, %w: !llvm.ptr<1>, %mapA: !llvm.ptr {byval}, %mapB: !llvm.ptr {byval}, %metadata: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel {{",
        "      %t = nvvm.read.ptx.sreg.tid.x : i32",
        "      %tiles = llvm.mlir.addressof @tiles : !llvm.ptr<3>",
        "      %object = llvm.mlir.addressof @object : !llvm.ptr<3>",
        "      %zero = llvm.mlir.constant(0.0 : f32) : f32",
    ]
    for number in [-1, 0, 1, 2, 3, 4, 5, 8, 16, 31]:
        name = f"m{-number}" if number < 0 else str(number)
        lines.append(f"      %c{name} = llvm.mlir.constant({number} : i32) : i32")

    def constant(name, number, type="i32"):
        lines.append(f"      %{name} = llvm.mlir.constant({number} : {type}) : {type}")

    loaded = bytes_b + (0 if k.registers else bytes_a)
    constant("bytes", loaded)
    constant("ticks", 100000)
    # B lies behind A, at a multiple of 1024 bytes.
    constant("offsetB", 64 * 128)
    lines += [
        "      %tilesB = llvm.getelementptr %tiles[%offsetB] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8",
        "      %isFirst = llvm.icmp \"eq\" %t, %c0 : i32",
        "      scf.if %isFirst {",
        "        nvvm.mbarrier.init %object, %c1 : !llvm.ptr<3>, i32",
        "        nvvm.fence.mbarrier.init",
        "        nvvm.mbarrier.arrive.expect_tx %object, %bytes : !llvm.ptr<3>, i32",
        "        %clusterA = llvm.addrspacecast %tiles : !llvm.ptr<3> to !llvm.ptr<7>",
        "        %clusterB = llvm.addrspacecast %tilesB : !llvm.ptr<3> to !llvm.ptr<7>",
    ]
    if not k.registers:
        lines.append(
            "        nvvm.cp.async.bulk.tensor.shared.cluster.global %clusterA, %mapA, %object, box[%c0, %c0] : !llvm.ptr<7>, !llvm.ptr"
        )
    lines += [
        "        nvvm.cp.async.bulk.tensor.shared.cluster.global %clusterB, %mapB, %object, box[%c0, %c0] : !llvm.ptr<7>, !llvm.ptr",
        "      }",
        "      gpu.barrier",
    ]
    if k.mistake != "early wait":
        lines.append(
            "      nvvm.mbarrier.try_wait.parity %object, %c0, %ticks : !llvm.ptr<3>, i32, i32"
        )

    def descriptor(name, pointer, span, stride, leading):
        modes = (stride >> 4) << 32 | (leading >> 4) << 16 | SWIZZLE[span] << 62
        # As a signed number.
        constant(f"modes{name}", modes - (1 << 64) if modes >> 63 else modes, "i64")
        constant(f"four{name}", 4, "i64")
        constant(f"mask{name}", 0x3FFF, "i64")
        lines.extend(
            [
                f"      %address{name} = llvm.ptrtoint %{pointer} : !llvm.ptr<3> to i64",
                f"      %sixteenth{name} = llvm.lshr %address{name}, %four{name} : i64",
                f"      %start{name} = llvm.and %sixteenth{name}, %mask{name} : i64",
                f"      %desc{name}0 = llvm.or %start{name}, %modes{name} : i64",
            ]
        )

    descriptor("A", "tiles", k.span_of_a, 8 * k.span_of_a, 0)
    if k.transposes_b:
        # Lines of 64 columns, one for each k.
        descriptor("B", "tilesB", 128, 1024, k.k * 128)
    else:
        descriptor("B", "tilesB", k.span, 8 * k.span, 0)
    advance_b = k.step * 128 if k.transposes_b else k.step * BYTES[k.factors]
    for step in range(1, k.steps):
        for name, advance in [("A", 32), ("B", advance_b)]:
            constant(f"advance{name}{step}", step * advance >> 4, "i64")
            lines.append(
                f"      %desc{name}{step} = llvm.add %desc{name}0, %advance{name}{step} : i64"
            )
    if k.registers:
        # Two neighbours in a register; of tf32 one.
        per = 4 // BYTES[k.factors]
        constant("rowLength", k.k // (2 if k.sparse else 1))
        lines += [
            "      %lane = llvm.and %t, %c31 : i32",
            "      %warp = llvm.lshr %t, %c5 : i32",
            "      %firstRow = llvm.mul %warp, %c16 : i32",
            "      %group = llvm.lshr %lane, %c2 : i32",
            "      %row = llvm.add %firstRow, %group : i32",
            "      %place = llvm.and %lane, %c3 : i32",
            f"      %column = llvm.mul %place, %c{per} : i32",
        ]
        for step in range(k.steps):
            for i in range(4):
                s = f"{step}_{i}"
                constant(f"down{s}", i % 2 * 8)
                constant(f"right{s}", step * k.stored_step + i // 2 * 4 * per)
                lines += [
                    f"      %row{s} = llvm.add %row, %down{s} : i32",
                    f"      %column{s} = llvm.add %column, %right{s} : i32",
                    f"      %before{s} = llvm.mul %row{s}, %rowLength : i32",
                    f"      %index{s} = llvm.add %before{s}, %column{s} : i32",
                    f"      %from{s} = llvm.getelementptr %x[%index{s}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {value}",
                    f"      %a{s} = llvm.load %from{s} : !llvm.ptr<1> -> i32",
                ]
    if k.sparse:
        for step in range(k.steps):
            constant(f"first{step}", step * 128)
            lines += [
                f"      %which{step} = llvm.add %t, %first{step} : i32",
                f"      %fromMeta{step} = llvm.getelementptr %metadata[%which{step}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32",
                f"      %meta{step} = llvm.load %fromMeta{step} : !llvm.ptr<1> -> i32",
            ]
    isOp = not (k.sparse or k.registers)
    zero = "sums0" if isOp else "zeros"
    lines.append(f"      %{zero} = llvm.mlir.zero : {struct}")
    if not isOp:
        lines.append(
            f'      %sums0 = llvm.call @"{k.get_synchronization("fence")}"(%zeros) : ({struct}) -> {struct}'
        )
    elif k.mistake != "no fence":
        lines.append("      nvvm.wgmma.fence.aligned")
    for step in range(k.steps):
        if isOp:
            layoutB = "row" if k.transposes_b else "col"
            zero = "one" if step else "zero"
            lines.append(
                f"      %sums{step + 1} = nvvm.wgmma.mma_async %descA{step}, %descB{step}, %sums{step}, <m = 64, n = {k.n}, k = {k.step}>, D [<{k.sums}>, <{zero}>], A [<{k.factors}>, <one>, <row>], B [<{k.factors}>, <one>, <{layoutB}>] : {struct} -> {struct}"
            )
            continue
        a = [f"%a{step}_{i}" for i in range(4)] if k.registers else [f"%descA{step}"]
        typesA = ["i32"] * 4 if k.registers else ["i64"]
        sparse = [f"%meta{step}", "%c0"] if k.sparse else []
        operands = [f"%sums{step}", *a, f"%descB{step}", *sparse]
        operands += ["%c1" if step else "%c0", "%c1", "%c1", "%c0"]
        operands += ["%c1" if k.transposes_b else "%c0"]
        types = [struct, *typesA, "i64", *["i32"] * (len(sparse) + 5)]
        lines.append(
            f'      %sums{step + 1} = llvm.call @"{k.get_function()}"({", ".join(operands)}) : ({", ".join(types)}) -> {struct}'
        )
    lines.append("      nvvm.wgmma.commit.group.sync.aligned")
    if k.mistake == "no wait":
        lines.append(f"      %sums = llvm.mlir.undef : {struct}")
        last = f"%sums{k.steps}"
    elif isOp:
        lines.append("      nvvm.wgmma.wait.group.sync.aligned 0")
        last = f"%sums{k.steps}"
    else:
        lines.append(
            f'      %sums = llvm.call @"{k.get_synchronization("wait_group")}"(%sums{k.steps}, %c0) : ({struct}, i32) -> {struct}'
        )
        last = "%sums"
    constant("count", k.registers_of_sums)
    lines.append("      %firstSum = llvm.mul %t, %count : i32")
    for i in range(k.registers_of_sums):
        constant(f"n{i}", i)
        lines += [
            f"      %sum{i} = llvm.extractvalue {last}[{i}] : {struct}",
            f"      %at{i} = llvm.add %firstSum, %n{i} : i32",
            f"      %to{i} = llvm.getelementptr %y[%at{i}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {element}",
            f"      llvm.store %sum{i}, %to{i} : {element}, !llvm.ptr<1>",
        ]
    if k.mistake == "no wait":
        lines.append("      nvvm.wgmma.wait.group.sync.aligned 0")
    lines += ["      gpu.return", "    }"]
    return "\n".join(lines)


def make_pipeline():
    """A product of 64 rows by 32 columns over any k: a thread of the fifth warp copies
    tiles of 64 columns to three buffers, a warpgroup multiplies them, and one of its
    threads says when a buffer is free."""
    kernel = Kernel("pipeline", n=32, registers=False)
    struct = kernel.get_struct()
    product = f'@"{kernel.get_function()}"'
    fence = f'@"{kernel.get_synchronization("fence")}"'
    wait = f'@"{kernel.get_synchronization("wait_group")}"'
    byval = "{llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64}"
    lines = [
        f"    gpu.func @pipeline(%x: !llvm.ptr<1>, %w: !llvm.ptr<1>, %mapA: !llvm.ptr {byval}, %mapB: !llvm.ptr {byval}, %y: !llvm.ptr<1>, %count: i32, %early: i1) kernel {{",
        "      %t = nvvm.read.ptx.sreg.tid.x : i32",
        "      %buffers = llvm.mlir.addressof @buffers : !llvm.ptr<3>",
        "      %objects = llvm.mlir.addressof @objects : !llvm.ptr<3>",
    ]
    for number in [0, 1, 2, 3, 16, 64, 128, 8192, 12288, 100000]:
        lines.append(f"      %c{number} = llvm.mlir.constant({number} : i32) : i32")
    lines.append("      %isFirst = llvm.icmp \"eq\" %t, %c0 : i32")
    lines.append("      scf.if %isFirst {")
    for i in range(6):
        lines += [
            f"        %object{i} = llvm.getelementptr %objects[{i}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64",
            f"        nvvm.mbarrier.init %object{i}, %c1 : !llvm.ptr<3>, i32",
        ]
    lines += ["        nvvm.fence.mbarrier.init", "      }", "      gpu.barrier"]

    def begin_round(isProducer):
        return [
            "          %s = arith.remui %i, %c3 : i32",
            "          %round = arith.divui %i, %c3 : i32",
            "          %parity = arith.remui %round, %c2 : i32",
            "          %otherParity = arith.xori %parity, %c1 : i32",
            "          %s3 = arith.addi %s, %c3 : i32",
            "          %full = llvm.getelementptr %objects[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64",
            "          %empty = llvm.getelementptr %objects[%s3] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64",
            "          %offset = arith.muli %s, %c12288 : i32",
            "          %tileA = llvm.getelementptr %buffers[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8",
            "          %tileB = llvm.getelementptr %tileA[%c8192] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8",
            "          nvvm.mbarrier.try_wait.parity "
            + ("%empty, %otherParity" if isProducer else "%full, %parity")
            + ", %c100000 : !llvm.ptr<3>, i32, i32",
        ]

    lines += [
        "      %isProducer = llvm.icmp \"eq\" %t, %c128 : i32",
        "      scf.if %isProducer {",
        "        scf.for %i = %c0 to %count step %c1 : i32 {",
        *begin_round(True),
        "          nvvm.mbarrier.arrive.expect_tx %full, %c12288 : !llvm.ptr<3>, i32",
        "          %column = arith.muli %i, %c64 : i32",
        "          %clusterA = llvm.addrspacecast %tileA : !llvm.ptr<3> to !llvm.ptr<7>",
        "          %clusterB = llvm.addrspacecast %tileB : !llvm.ptr<3> to !llvm.ptr<7>",
        "          nvvm.cp.async.bulk.tensor.shared.cluster.global %clusterA, %mapA, %full, box[%column, %c0] : !llvm.ptr<7>, !llvm.ptr",
        "          nvvm.cp.async.bulk.tensor.shared.cluster.global %clusterB, %mapB, %full, box[%column, %c0] : !llvm.ptr<7>, !llvm.ptr",
        "        }",
        "      }",
        "      %isConsumer = llvm.icmp \"ult\" %t, %c128 : i32",
        "      scf.if %isConsumer {",
        f"        %zeros = llvm.mlir.zero : {struct}",
        f"        %sums = scf.for %i = %c0 to %count step %c1 iter_args(%before = %zeros) -> ({struct}) : i32 {{",
        *begin_round(False),
        f"          %sums0 = llvm.call {fence}(%before) : ({struct}) -> {struct}",
    ]
    modes = 1024 >> 4 << 32 | 1 << 62
    for name in "AB":
        lines += [
            f"          %modes{name} = llvm.mlir.constant({modes} : i64) : i64",
            f"          %four{name} = llvm.mlir.constant(4 : i64) : i64",
            f"          %mask{name} = llvm.mlir.constant({0x3FFF} : i64) : i64",
            f"          %address{name} = llvm.ptrtoint %tile{name} : !llvm.ptr<3> to i64",
            f"          %sixteenth{name} = llvm.lshr %address{name}, %four{name} : i64",
            f"          %start{name} = llvm.and %sixteenth{name}, %mask{name} : i64",
            f"          %desc{name}0 = llvm.or %start{name}, %modes{name} : i64",
        ]
        for step in range(1, 4):
            lines += [
                f"          %advance{name}{step} = llvm.mlir.constant({2 * step} : i64) : i64",
                f"          %desc{name}{step} = llvm.add %desc{name}0, %advance{name}{step} : i64",
            ]
    for step in range(4):
        lines.append(
            f"          %sums{step + 1} = llvm.call {product}(%sums{step}, %descA{step}, %descB{step}, %c1, %c1, %c1, %c0, %c0) : ({struct}, i64, i64, i32, i32, i32, i32, i32) -> {struct}"
        )
    lines += [
        "          nvvm.wgmma.commit.group.sync.aligned",
        "          %tellsEarly = llvm.and %isFirst, %early : i1",
        "          scf.if %tellsEarly {",
        "            %state = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64",
        "          }",
        f"          %done = llvm.call {wait}(%sums4, %c0) : ({struct}, i32) -> {struct}",
        "          %true = llvm.mlir.constant(true) : i1",
        "          %late = llvm.xor %early, %true : i1",
        "          %tells = llvm.and %isFirst, %late : i1",
        "          scf.if %tells {",
        "            %state = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64",
        "          }",
        f"          scf.yield %done : {struct}",
        "        }",
        "        %firstSum = llvm.mul %t, %c16 : i32",
    ]
    for i in range(16):
        lines += [
            f"        %sum{i} = llvm.extractvalue %sums[{i}] : {struct}",
            f"        %n{i} = llvm.mlir.constant({i} : i32) : i32",
            f"        %at{i} = llvm.add %firstSum, %n{i} : i32",
            f"        %to{i} = llvm.getelementptr %y[%at{i}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32",
            f"        llvm.store %sum{i}, %to{i} : f32, !llvm.ptr<1>",
        ]
    lines += ["      }", "      gpu.return", "    }"]
    return "\n".join(
        [
            "module attributes {gpu.container_module} {",
            "  gpu.module @kernels {",
            "    llvm.mlir.global internal @buffers() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<36864 x i8>",
            "    llvm.mlir.global internal @objects() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<6 x i64>",
            *sorted(make_declarations(kernel)),
            *lines,
            "  }",
            "}\n",
        ]
    )


KERNELS = [
    Kernel("f16_128", n=64),
    Kernel("f16_64", n=24, span=64),
    Kernel("f16_32", n=8, span=32),
    Kernel("f16_sums", sums="f16", n=32),
    Kernel("f16_wide", n=256, span=32),
    Kernel("bf16", factors="bf16", n=40),
    Kernel("tf32", factors="tf32", n=64),
    Kernel("tf32_32", factors="tf32", n=16, span=32),
    Kernel("f16_transposed", n=64, transposes_b=True),
    Kernel("f16_registers", n=48, registers=True),
    Kernel("tf32_registers", factors="tf32", n=16, registers=True),
    Kernel("f16_sparse", n=64, sparse=True),
    Kernel("f16_sparse_sums", n=64, sums="f16", sparse=True),
    Kernel("bf16_sparse", factors="bf16", n=128, span=64, sparse=True),
    Kernel("tf32_sparse", factors="tf32", n=32, sparse=True),
    Kernel("f16_sparse_registers", n=64, sparse=True, registers=True),
    Kernel("f16_sparse_transposed", n=64, sparse=True, transposes_b=True),
]

MISTAKES = [
    Kernel("no_wait", n=8, span=32, mistake="no wait"),
    Kernel("no_fence", n=8, span=32, mistake="no fence"),
    Kernel("early_wait", n=8, span=32, mistake="early wait"),
]


def make_module(kernels):
    declarations = set()
    for kernel in kernels:
        if kernel.sparse or kernel.registers:
            declarations |= make_declarations(kernel)
    parts = [
        "module attributes {gpu.container_module} {",
        "  gpu.module @kernels {",
        "    llvm.mlir.global internal @tiles() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<24576 x i8>",
        "    llvm.mlir.global internal @object() {addr_space = 3 : i32, alignment = 8 : i64} : i64",
        *sorted(declarations),
        *(make_kernel(kernel) for kernel in kernels),
        "  }",
        "}",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    import sys

    if "pipeline" in sys.argv:
        sys.stdout.write(make_pipeline())
    else:
        sys.stdout.write(make_module(MISTAKES if "mistakes" in sys.argv else KERNELS))
