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

// What is compared for equality is rounded: the other side may have been stored.

// CHECK-LABEL: llvm.func @compared(
//       CHECK:   %[[SUM:.+]] = llvm.fadd %{{.+}} : f32
//       CHECK:   %[[ROUNDED:.+]] = llvm.fptrunc %[[SUM]] : f32 to f16
//       CHECK:   %[[SAME:.+]] = llvm.fpext %[[ROUNDED]] {{.*}}: f16 to f32
//       CHECK:   llvm.fcmp "oeq" %[[SAME]], %{{.+}} : f32
func.func @compared(%x: f16, %least: memref<f16>) -> i1 {
  %sum = arith.addf %x, %x : f16
  %known = memref.load %least[] : memref<f16>
  %is_least = arith.cmpf oeq, %sum, %known : f16
  return %is_least : i1
}

// On which side of a threshold it is can be told in f32.

// CHECK-LABEL: llvm.func @ordered(
//       CHECK:   %[[SUM:.+]] = llvm.fadd %{{.+}} : f32
//       CHECK:   llvm.fcmp "ogt" %[[SUM]], %{{.+}} : f32
func.func @ordered(%x: f16, %threshold: f16) -> i1 {
  %sum = arith.addf %x, %x : f16
  %is_beyond = arith.cmpf ogt, %sum, %threshold : f16
  return %is_beyond : i1
}

// A product of f16 and its sum are numbers of f64; no library is called to round
// that.

// CHECK-LABEL: llvm.func @multiply_add(
//       CHECK:   %[[PRODUCT:.+]] = llvm.fmul %{{.+}}, %{{.+}} : f64
//       CHECK:   %[[SUM:.+]] = llvm.fadd %[[PRODUCT]], %{{.+}} : f64
//       CHECK:   llvm.fptrunc %[[SUM]] : f64 to f32
//   CHECK-NOT:   f64 to f16
//   CHECK-NOT:   llvm.intr.fma
//       CHECK:   llvm.fptrunc %{{.+}} : f32 to f16
func.func @multiply_add(%a: f16, %b: f16, %c: f16) -> f16 {
  %r = math.fma %a, %b, %c : f16
  return %r : f16
}
