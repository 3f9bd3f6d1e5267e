// RUN: sparse-opt %s --pass-pipeline="builtin.module(gpu.module(sparse-autograd-kernel-to-nvvm))" | FileCheck %s

// What is an instruction of the chips stays one; the rest is libdevice.

// CHECK-LABEL: llvm.func @f(
// CHECK:       llvm.call_intrinsic "llvm.fabs"({{.*}}) : (f32) -> f32
// CHECK:       llvm.call_intrinsic "llvm.ceil"({{.*}}) : (f64) -> f64
// CHECK:       llvm.call_intrinsic "llvm.copysign"({{.*}}) : (f32, f32) -> f32
// CHECK:       llvm.call_intrinsic "llvm.floor"({{.*}}) : (f64) -> f64
// CHECK:       llvm.call_intrinsic "llvm.fma"({{.*}}) : (f32, f32, f32) -> f32
// CHECK:       llvm.call_intrinsic "llvm.roundeven"({{.*}}) : (f64) -> f64
// CHECK:       llvm.call_intrinsic "llvm.sqrt"({{.*}}) : (f32) -> f32
// CHECK:       llvm.call_intrinsic "llvm.sqrt"({{.*}}) : (f64) -> f64
// CHECK:       llvm.call_intrinsic "llvm.trunc"({{.*}}) : (f32) -> f32
// CHECK:       llvm.call @__nv_exp({{.*}}) : (f64) -> f64
gpu.module @kernels {
  gpu.func @f(%x: memref<1xf32, #gpu.address_space<global>>, %y: memref<1xf64, #gpu.address_space<global>>) kernel {
    %c0 = arith.constant 0 : index
    %a = memref.load %x[%c0] : memref<1xf32, #gpu.address_space<global>>
    %b = memref.load %y[%c0] : memref<1xf64, #gpu.address_space<global>>
    %abs = math.absf %a : f32
    %ceil = math.ceil %b : f64
    %signed = math.copysign %abs, %a : f32
    %floor = math.floor %ceil : f64
    %fma = math.fma %signed, %a, %a : f32
    %even = math.roundeven %floor : f64
    %root = math.sqrt %fma : f32
    %root64 = math.sqrt %even : f64
    %trunc = math.trunc %root : f32
    %exp = math.exp %root64 : f64
    memref.store %trunc, %x[%c0] : memref<1xf32, #gpu.address_space<global>>
    memref.store %exp, %y[%c0] : memref<1xf64, #gpu.address_space<global>>
    gpu.return
  }
}

// Those of integers are intrinsics too.

// CHECK-LABEL: llvm.func @integers(
// CHECK:       llvm.intr.ctlz
// CHECK:       llvm.intr.cttz
// CHECK:       llvm.intr.ctpop
gpu.module @bits {
  gpu.func @integers(%x: memref<1xi32, #gpu.address_space<global>>) kernel {
    %c0 = arith.constant 0 : index
    %a = memref.load %x[%c0] : memref<1xi32, #gpu.address_space<global>>
    %leading = math.ctlz %a : i32
    %trailing = math.cttz %leading : i32
    %ones = math.ctpop %trailing : i32
    memref.store %ones, %x[%c0] : memref<1xi32, #gpu.address_space<global>>
    gpu.return
  }
}

// A product that is added to a sum whose order is free is not rounded first, unless
// it is used elsewhere; one that is added in the order of the program is.

// CHECK-LABEL: llvm.func @sums(
// CHECK:       %[[SUM:.*]] = llvm.call_intrinsic "llvm.fma"(%[[A:.*]], %[[B:.*]], %[[A]]) : (f32, f32, f32) -> f32
// CHECK:       %[[Q:.*]] = llvm.fmul %[[SUM]], %[[B]]
// CHECK-NEXT:  %[[T:.*]] = llvm.fadd %[[A]], %[[Q]] : f32
// CHECK:       %[[R:.*]] = llvm.fmul %[[T]], %[[B]]
// CHECK-NEXT:  llvm.fadd %[[R]], %[[A]] {fastmathFlags = #llvm.fastmath<reassoc>}
gpu.module @more_kernels {
  gpu.func @sums(%x: memref<2xf32, #gpu.address_space<global>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.load %x[%c0] : memref<2xf32, #gpu.address_space<global>>
    %b = memref.load %x[%c1] : memref<2xf32, #gpu.address_space<global>>
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %a, %p fastmath<reassoc> : f32
    memref.store %s, %x[%c0] : memref<2xf32, #gpu.address_space<global>>
    %q = arith.mulf %s, %b : f32
    %t = arith.addf %a, %q : f32
    memref.store %t, %x[%c1] : memref<2xf32, #gpu.address_space<global>>
    %r = arith.mulf %t, %b : f32
    %u = arith.addf %r, %a fastmath<reassoc> : f32
    memref.store %r, %x[%c0] : memref<2xf32, #gpu.address_space<global>>
    memref.store %u, %x[%c1] : memref<2xf32, #gpu.address_space<global>>
    gpu.return
  }
}

// Truth values are bytes in memory.

// CHECK-LABEL: llvm.func @truth(
// CHECK:       %[[BYTE:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i8
// CHECK-NEXT:  %[[ZERO:.*]] = llvm.mlir.constant(0 : i8) : i8
// CHECK-NEXT:  %[[TRUE:.*]] = llvm.icmp "ne" %[[BYTE]], %[[ZERO]] : i8
// CHECK:       %[[STORED:.*]] = llvm.zext %{{.*}} : i1 to i8
// CHECK-NEXT:  llvm.store %[[STORED]], %{{.*}} : i8, !llvm.ptr<1>
gpu.module @truths {
  gpu.func @truth(%x: memref<2xi1, #gpu.address_space<global>>, %y: i1) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.load %x[%c0] : memref<2xi1, #gpu.address_space<global>>
    %b = arith.xori %a, %y : i1
    memref.store %b, %x[%c1] : memref<2xi1, #gpu.address_space<global>>
    gpu.return
  }
}

// Static shared memory begins where the widest instructions can access it.

// CHECK-LABEL: gpu.module @strips
// CHECK:       llvm.mlir.global internal @{{.*}}() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<24 x f32>
gpu.module @strips {
  gpu.func @strip(%x: f32) workgroup(%w: memref<24xf32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    memref.store %x, %w[%c0] : memref<24xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// Registers of bf16 are integers.

// CHECK-LABEL: llvm.func @product(
// CHECK-SAME:    %[[A:[^:]*]]: vector<2xbf16>, %[[B:[^:]*]]: vector<2xbf16>
// CHECK:       %[[FIRST:.*]] = llvm.bitcast %[[A]] : vector<2xbf16> to i32
// CHECK:       %[[SECOND:.*]] = llvm.bitcast %[[B]] : vector<2xbf16> to i32
// CHECK:       %[[SUMS:.*]] = nvvm.mma.sync A[%[[FIRST]], %[[SECOND]], %[[FIRST]], %[[SECOND]]] B[%[[SECOND]], %[[FIRST]]] C[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK:       %[[LAST:.*]] = llvm.extractvalue %[[SUMS]][3]
// CHECK:       llvm.store %[[LAST]]
gpu.module @products {
  gpu.func @product(%a: vector<2xbf16>, %b: vector<2xbf16>, %x: memref<4xf32, #gpu.address_space<global>>) kernel {
    %c3 = arith.constant 3 : index
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %left = vector.broadcast %a : vector<2xbf16> to vector<4x2xbf16>
    %left1 = vector.insert %b, %left[1] : vector<2xbf16> into vector<4x2xbf16>
    %left3 = vector.insert %b, %left1[3] : vector<2xbf16> into vector<4x2xbf16>
    %right = vector.broadcast %b : vector<2xbf16> to vector<2x2xbf16>
    %right1 = vector.insert %a, %right[1] : vector<2xbf16> into vector<2x2xbf16>
    %sums = nvgpu.mma.sync (%left3, %right1, %zero) {mmaShape = [16, 8, 16]}
        : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %last = vector.extract %sums[1, 1] : f32 from vector<2x2xf32>
    memref.store %last, %x[%c3] : memref<4xf32, #gpu.address_space<global>>
    gpu.return
  }
}
