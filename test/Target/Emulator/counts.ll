; What the counter makes of accesses whose requests, sectors, wavefronts and hits
; are known.

; Four loads of a thread are one of 16 bytes on the way to PTX: 4 sectors for 8
; lanes. The store takes 4 sectors of a warp.
; RUN: emulate-kernel %s --kernel=wide --count --grid=4 --block=32 f32:512:iota f32:128:zero --print=1 | FileCheck %s --check-prefix=WIDE
; WIDE: "machine": "h100", "machine_divisor": 1, "note": "counted on the emulator; times, caches and occupancy are a model"
; WIDE: "kernel": "wide", "grid": [4, 1, 1], "block": [32, 1, 1], "blocks": 4
; WIDE-SAME: "global_requests": 8, "global_lanes": 256, "global_bytes": 2560, "global_sectors": 80, "global_wavefronts": 20, "atomic_requests": 0
; WIDE-SAME: "f32": 12
; WIDE-SAME: "memory": 8
; WIDE-SAME: "longest_chain": {"global_accesses": 1
; WIDE-SAME: "l1_read_sectors": 64, "l1_hit_sectors": 0, "l2_read_sectors": 64, "l2_hit_sectors": 0, "l2_write_sectors": 16, "dram_read_sectors": 64, "dram_write_sectors": 16
; WIDE-SAME: "where": "@wide:{{[0-9]+}}: %{{[0-9]+}} = load <4 x float>, {{.*}} "bytes": 16, "requests": 4, "lanes": 128, "sectors": 64, "wavefronts": 16
; WIDE: 1: f32 [6, 22, 38

; A register more than 64 K / (32 warps x 32): fewer blocks.
; RUN: emulate-kernel %s --kernel=wide --count=a100 --registers=65 --grid=1 --block=1024 f32:4096:iota f32:1024:zero --print=1 | FileCheck %s --check-prefix=REGISTERS
; REGISTERS: "machine": "a100"
; REGISTERS: "blocks_of_multiprocessor": 1, "warps_of_multiprocessor": 32, "occupancy_limit": "registers"

; A sector for each lane.
; RUN: emulate-kernel %s --kernel=strided --count --grid=1 --block=32 f32:256:iota f32:32:zero --print=1 | FileCheck %s --check-prefix=STRIDED
; STRIDED: "requests": 1, "lanes": 32, "sectors": 32, "wavefronts": 8

; All lanes in one bank, then each in its own.
; RUN: emulate-kernel %s --kernel=banks --count --grid=1 --block=32 f32:32:zero | FileCheck %s --check-prefix=BANKS
; BANKS: "shared_requests": 2, "shared_wavefronts": 33, "shared_conflicts": 31

; Rows whose lengths differ: a warp takes as many steps as the longest row of
; its lanes, each time, which is not the most that one lane takes in all.
; RUN: emulate-kernel %s --kernel=rows --count --grid=1 --block=32 f32:1:iota f32:32:zero --print=1 | FileCheck %s --check-prefix=ROWS
; ROWS: "global_requests": 9, "global_lanes": 192
; ROWS: "requests": 8, "lanes": 160, "sectors": 8, "wavefronts": 8
; ROWS: 1: f32 [0, 0,

; 64 KB twice: the second time it is in the L1. 512 KB twice: in the L2; and in
; none of 1/132 of an H100, whose L2 has 397 KB.
; RUN: emulate-kernel %s --kernel=twice --count --grid=1 --block=32 i32=512 f32:16384:zero f32:32:zero --print=2 | FileCheck %s --check-prefix=L1
; L1: "l1_read_sectors": 4096, "l1_hit_sectors": 2048, "l2_read_sectors": 2048, "l2_hit_sectors": 0
; RUN: emulate-kernel %s --kernel=twice --count --grid=1 --block=32 i32=4096 f32:131072:zero f32:32:zero --print=2 | FileCheck %s --check-prefix=L2
; L2: "l1_read_sectors": 32768, "l1_hit_sectors": {{[0-9]?[0-9]?[0-9]?[0-9]}}, "l2_read_sectors": {{[0-9]+}}, "l2_hit_sectors": {{1[0-9]+}}, "l2_write_sectors": 4, "dram_read_sectors": 16384
; RUN: emulate-kernel %s --kernel=twice --count=h100/132 --grid=1 --block=32 i32=4096 f32:131072:zero f32:32:zero --print=2 | FileCheck %s --check-prefix=DRAM
; DRAM: "machine_divisor": 132
; DRAM: "dram_read_sectors": {{2[0-9][0-9][0-9][0-9]|3[0-9][0-9][0-9][0-9]}}, "dram_write_sectors": 4

; Seeds do not change what is asked for.
; RUN: emulate-kernel %s --kernel=rows --count --seed=7 --grid=1 --block=32 f32:1:iota f32:32:zero --print=1 | FileCheck %s --check-prefix=ROWS

; RUN: not emulate-kernel %s --kernel=rows --count=h400 --grid=1 --block=32 f32:1:iota f32:32:zero 2>&1 | FileCheck %s --check-prefix=MACHINE
; RUN: not emulate-kernel %s --kernel=rows --count=h100/0 --grid=1 --block=32 f32:1:iota f32:32:zero 2>&1 | FileCheck %s --check-prefix=MACHINE
; RUN: not emulate-kernel %s --kernel=rows --count=h100/133 --grid=1 --block=32 f32:1:iota f32:32:zero 2>&1 | FileCheck %s --check-prefix=MACHINE
; MACHINE: error: there is no description of the machine 'h{{[0-9/]+}}'; there are h100, h200, a100, rtx3090, rtx4090, and parts of them, as h100/16

; Nothing is counted unless it is asked for.
; RUN: emulate-kernel %s --kernel=rows --grid=1 --block=32 f32:1:iota f32:32:zero --print=1 | FileCheck %s --check-prefix=OFF --implicit-check-not=machine
; OFF: 1: f32 [0, 0,

target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [1024 x float] undef, align 4

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define ptx_kernel void @wide(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %before = mul i32 %block, %threads
  %i = add i32 %before, %thread
  %k = mul i32 %i, 4
  %p0 = getelementptr float, ptr addrspace(1) %x, i32 %k
  %p1 = getelementptr float, ptr addrspace(1) %p0, i32 1
  %p2 = getelementptr float, ptr addrspace(1) %p0, i32 2
  %p3 = getelementptr float, ptr addrspace(1) %p0, i32 3
  %v0 = load float, ptr addrspace(1) %p0, align 16
  %v1 = load float, ptr addrspace(1) %p1
  %v2 = load float, ptr addrspace(1) %p2
  %v3 = load float, ptr addrspace(1) %p3
  %a = fadd float %v0, %v1
  %b = fadd float %v2, %v3
  %s = fadd float %a, %b
  %to = getelementptr float, ptr addrspace(1) %y, i32 %i
  store float %s, ptr addrspace(1) %to
  ret void
}

define ptx_kernel void @strided(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %k = mul i32 %thread, 8
  %from = getelementptr float, ptr addrspace(1) %x, i32 %k
  %v = load float, ptr addrspace(1) %from
  %to = getelementptr float, ptr addrspace(1) %y, i32 %thread
  store float %v, ptr addrspace(1) %to
  ret void
}

define ptx_kernel void @banks(ptr addrspace(1) %y) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %k = mul i32 %thread, 32
  %one = getelementptr float, ptr addrspace(3) @tile, i32 %k
  store float 0.0, ptr addrspace(3) %one
  %j = add i32 %k, %thread
  %own = getelementptr float, ptr addrspace(3) @tile, i32 %j
  store float 1.0, ptr addrspace(3) %own
  ret void
}

; for o in 0, 1: for j in 0 to (lane + 2 o) mod 4: sum += x[0]
define ptx_kernel void @rows(ptr addrspace(1) %x, ptr addrspace(1) %y) {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %before = phi float [ 0.0, %entry ], [ %after, %latch ]
  %twice = mul i32 %o, 2
  %shifted = add i32 %thread, %twice
  %last = and i32 %shifted, 3
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %sum = phi float [ %before, %outer ], [ %after, %inner ]
  %v = load float, ptr addrspace(1) %x
  %after = fadd float %sum, %v
  %j.next = add i32 %j, 1
  %more = icmp ult i32 %j, %last
  br i1 %more, label %inner, label %latch
latch:
  %o.next = add i32 %o, 1
  %again = icmp ult i32 %o.next, 2
  br i1 %again, label %outer, label %exit
exit:
  %to = getelementptr float, ptr addrspace(1) %y, i32 %thread
  store float %after, ptr addrspace(1) %to
  ret void
}

; for o in 0, 1: for j in 0 to n - 1: sum += x[32 j + lane]
define ptx_kernel void @twice(i32 %n, ptr addrspace(1) %x, ptr addrspace(1) %y) {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %outer
outer:
  %o = phi i32 [ 0, %entry ], [ %o.next, %latch ]
  %before = phi float [ 0.0, %entry ], [ %after, %latch ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %sum = phi float [ %before, %outer ], [ %after, %inner ]
  %row = mul i32 %j, 32
  %k = add i32 %row, %thread
  %from = getelementptr float, ptr addrspace(1) %x, i32 %k
  %v = load float, ptr addrspace(1) %from
  %after = fadd float %sum, %v
  %j.next = add i32 %j, 1
  %more = icmp ult i32 %j.next, %n
  br i1 %more, label %inner, label %latch
latch:
  %o.next = add i32 %o, 1
  %again = icmp ult i32 %o.next, 2
  br i1 %again, label %outer, label %exit
exit:
  %to = getelementptr float, ptr addrspace(1) %y, i32 %thread
  store float %after, ptr addrspace(1) %to
  ret void
}
