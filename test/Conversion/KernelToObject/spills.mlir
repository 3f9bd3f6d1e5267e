// Eight blocks at once would leave a thread 32 registers, in which forty numbers
// have no place: the kernel gets as many more as it needs.

// REQUIRES: ptxas
// RUN: sparse-opt %s --pass-pipeline="builtin.module(sparse-autograd-kernel-to-object{chips=sm_90 ptx=sm_90 report=true})" -o %t.mlir 2> %t.report
// RUN: FileCheck %s --input-file=%t.report
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=PTX

// CHECK: remark: many on sm_90: {{[3-9][0-9]}} registers, 0 bytes of stack, 0 bytes spilled
// What is asked for stays in the PTX that a driver assembles.
// PTX: .minnctapersm 8
gpu.module @kernels {
  llvm.func @many(%p: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 8 : i32} {
    %a0 = llvm.getelementptr %p[0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v0 = llvm.load volatile %a0 : !llvm.ptr<1> -> f32
    %a1 = llvm.getelementptr %p[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v1 = llvm.load volatile %a1 : !llvm.ptr<1> -> f32
    %a2 = llvm.getelementptr %p[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v2 = llvm.load volatile %a2 : !llvm.ptr<1> -> f32
    %a3 = llvm.getelementptr %p[3] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v3 = llvm.load volatile %a3 : !llvm.ptr<1> -> f32
    %a4 = llvm.getelementptr %p[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v4 = llvm.load volatile %a4 : !llvm.ptr<1> -> f32
    %a5 = llvm.getelementptr %p[5] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v5 = llvm.load volatile %a5 : !llvm.ptr<1> -> f32
    %a6 = llvm.getelementptr %p[6] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v6 = llvm.load volatile %a6 : !llvm.ptr<1> -> f32
    %a7 = llvm.getelementptr %p[7] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v7 = llvm.load volatile %a7 : !llvm.ptr<1> -> f32
    %a8 = llvm.getelementptr %p[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v8 = llvm.load volatile %a8 : !llvm.ptr<1> -> f32
    %a9 = llvm.getelementptr %p[9] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v9 = llvm.load volatile %a9 : !llvm.ptr<1> -> f32
    %a10 = llvm.getelementptr %p[10] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v10 = llvm.load volatile %a10 : !llvm.ptr<1> -> f32
    %a11 = llvm.getelementptr %p[11] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v11 = llvm.load volatile %a11 : !llvm.ptr<1> -> f32
    %a12 = llvm.getelementptr %p[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v12 = llvm.load volatile %a12 : !llvm.ptr<1> -> f32
    %a13 = llvm.getelementptr %p[13] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v13 = llvm.load volatile %a13 : !llvm.ptr<1> -> f32
    %a14 = llvm.getelementptr %p[14] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v14 = llvm.load volatile %a14 : !llvm.ptr<1> -> f32
    %a15 = llvm.getelementptr %p[15] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v15 = llvm.load volatile %a15 : !llvm.ptr<1> -> f32
    %a16 = llvm.getelementptr %p[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v16 = llvm.load volatile %a16 : !llvm.ptr<1> -> f32
    %a17 = llvm.getelementptr %p[17] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v17 = llvm.load volatile %a17 : !llvm.ptr<1> -> f32
    %a18 = llvm.getelementptr %p[18] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v18 = llvm.load volatile %a18 : !llvm.ptr<1> -> f32
    %a19 = llvm.getelementptr %p[19] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v19 = llvm.load volatile %a19 : !llvm.ptr<1> -> f32
    %a20 = llvm.getelementptr %p[20] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v20 = llvm.load volatile %a20 : !llvm.ptr<1> -> f32
    %a21 = llvm.getelementptr %p[21] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v21 = llvm.load volatile %a21 : !llvm.ptr<1> -> f32
    %a22 = llvm.getelementptr %p[22] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v22 = llvm.load volatile %a22 : !llvm.ptr<1> -> f32
    %a23 = llvm.getelementptr %p[23] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v23 = llvm.load volatile %a23 : !llvm.ptr<1> -> f32
    %a24 = llvm.getelementptr %p[24] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v24 = llvm.load volatile %a24 : !llvm.ptr<1> -> f32
    %a25 = llvm.getelementptr %p[25] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v25 = llvm.load volatile %a25 : !llvm.ptr<1> -> f32
    %a26 = llvm.getelementptr %p[26] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v26 = llvm.load volatile %a26 : !llvm.ptr<1> -> f32
    %a27 = llvm.getelementptr %p[27] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v27 = llvm.load volatile %a27 : !llvm.ptr<1> -> f32
    %a28 = llvm.getelementptr %p[28] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v28 = llvm.load volatile %a28 : !llvm.ptr<1> -> f32
    %a29 = llvm.getelementptr %p[29] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v29 = llvm.load volatile %a29 : !llvm.ptr<1> -> f32
    %a30 = llvm.getelementptr %p[30] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v30 = llvm.load volatile %a30 : !llvm.ptr<1> -> f32
    %a31 = llvm.getelementptr %p[31] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v31 = llvm.load volatile %a31 : !llvm.ptr<1> -> f32
    %a32 = llvm.getelementptr %p[32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v32 = llvm.load volatile %a32 : !llvm.ptr<1> -> f32
    %a33 = llvm.getelementptr %p[33] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v33 = llvm.load volatile %a33 : !llvm.ptr<1> -> f32
    %a34 = llvm.getelementptr %p[34] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v34 = llvm.load volatile %a34 : !llvm.ptr<1> -> f32
    %a35 = llvm.getelementptr %p[35] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v35 = llvm.load volatile %a35 : !llvm.ptr<1> -> f32
    %a36 = llvm.getelementptr %p[36] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v36 = llvm.load volatile %a36 : !llvm.ptr<1> -> f32
    %a37 = llvm.getelementptr %p[37] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v37 = llvm.load volatile %a37 : !llvm.ptr<1> -> f32
    %a38 = llvm.getelementptr %p[38] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v38 = llvm.load volatile %a38 : !llvm.ptr<1> -> f32
    %a39 = llvm.getelementptr %p[39] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %v39 = llvm.load volatile %a39 : !llvm.ptr<1> -> f32
    llvm.store volatile %v39, %a0 : f32, !llvm.ptr<1>
    llvm.store volatile %v38, %a1 : f32, !llvm.ptr<1>
    llvm.store volatile %v37, %a2 : f32, !llvm.ptr<1>
    llvm.store volatile %v36, %a3 : f32, !llvm.ptr<1>
    llvm.store volatile %v35, %a4 : f32, !llvm.ptr<1>
    llvm.store volatile %v34, %a5 : f32, !llvm.ptr<1>
    llvm.store volatile %v33, %a6 : f32, !llvm.ptr<1>
    llvm.store volatile %v32, %a7 : f32, !llvm.ptr<1>
    llvm.store volatile %v31, %a8 : f32, !llvm.ptr<1>
    llvm.store volatile %v30, %a9 : f32, !llvm.ptr<1>
    llvm.store volatile %v29, %a10 : f32, !llvm.ptr<1>
    llvm.store volatile %v28, %a11 : f32, !llvm.ptr<1>
    llvm.store volatile %v27, %a12 : f32, !llvm.ptr<1>
    llvm.store volatile %v26, %a13 : f32, !llvm.ptr<1>
    llvm.store volatile %v25, %a14 : f32, !llvm.ptr<1>
    llvm.store volatile %v24, %a15 : f32, !llvm.ptr<1>
    llvm.store volatile %v23, %a16 : f32, !llvm.ptr<1>
    llvm.store volatile %v22, %a17 : f32, !llvm.ptr<1>
    llvm.store volatile %v21, %a18 : f32, !llvm.ptr<1>
    llvm.store volatile %v20, %a19 : f32, !llvm.ptr<1>
    llvm.store volatile %v19, %a20 : f32, !llvm.ptr<1>
    llvm.store volatile %v18, %a21 : f32, !llvm.ptr<1>
    llvm.store volatile %v17, %a22 : f32, !llvm.ptr<1>
    llvm.store volatile %v16, %a23 : f32, !llvm.ptr<1>
    llvm.store volatile %v15, %a24 : f32, !llvm.ptr<1>
    llvm.store volatile %v14, %a25 : f32, !llvm.ptr<1>
    llvm.store volatile %v13, %a26 : f32, !llvm.ptr<1>
    llvm.store volatile %v12, %a27 : f32, !llvm.ptr<1>
    llvm.store volatile %v11, %a28 : f32, !llvm.ptr<1>
    llvm.store volatile %v10, %a29 : f32, !llvm.ptr<1>
    llvm.store volatile %v9, %a30 : f32, !llvm.ptr<1>
    llvm.store volatile %v8, %a31 : f32, !llvm.ptr<1>
    llvm.store volatile %v7, %a32 : f32, !llvm.ptr<1>
    llvm.store volatile %v6, %a33 : f32, !llvm.ptr<1>
    llvm.store volatile %v5, %a34 : f32, !llvm.ptr<1>
    llvm.store volatile %v4, %a35 : f32, !llvm.ptr<1>
    llvm.store volatile %v3, %a36 : f32, !llvm.ptr<1>
    llvm.store volatile %v2, %a37 : f32, !llvm.ptr<1>
    llvm.store volatile %v1, %a38 : f32, !llvm.ptr<1>
    llvm.store volatile %v0, %a39 : f32, !llvm.ptr<1>
    llvm.return
  }
}
