// RUN: sparse-opt %s --sparse-autograd-program-to-llvm | FileCheck %s

// What a loop stores it goes on with as it is stored, for another loop reads it.

// CHECK-LABEL: llvm.func @stored(
//       CHECK:   %[[SUM:.+]] = llvm.fadd %{{.+}} : f32
//       CHECK:   %[[ROUNDED:.+]] = llvm.fptrunc %[[SUM]] : f32 to f16
//       CHECK:   %[[SAME:.+]] = llvm.fpext %[[ROUNDED]] {{.*}}: f16 to f32
//       CHECK:   llvm.fmul %[[SAME]], %[[SAME]] : f32
func.func @stored(%x: f16, %to: memref<2xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = arith.addf %x, %x : f16
  memref.store %sum, %to[%c0] : memref<2xf16>
  %square = arith.mulf %sum, %sum : f16
  memref.store %square, %to[%c1] : memref<2xf16>
  return
}

// Nobody else sees this sum: it is not rounded.

// CHECK-LABEL: llvm.func @passed_on(
//       CHECK:   %[[SUM:.+]] = llvm.fadd %{{.+}} : f32
//       CHECK:   %[[SQUARE:.+]] = llvm.fmul %[[SUM]], %[[SUM]] : f32
//       CHECK:   llvm.fptrunc %[[SQUARE]] : f32 to f16
func.func @passed_on(%x: f16, %to: memref<2xf16>) {
  %c0 = arith.constant 0 : index
  %sum = arith.addf %x, %x : f16
  %square = arith.mulf %sum, %sum : f16
  memref.store %square, %to[%c0] : memref<2xf16>
  return
}
