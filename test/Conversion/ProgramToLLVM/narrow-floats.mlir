// RUN: sparse-opt %s --sparse-autograd-program-to-llvm | FileCheck %s

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
