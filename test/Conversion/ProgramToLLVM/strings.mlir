// RUN: sparse-opt %s --sparse-autograd-program-to-llvm | FileCheck %s

// Equal texts share a constant; a name that the program has is not taken again.

// CHECK-DAG: llvm.mlir.global internal constant @[[TWICE:sparse_autograd.string_[0-9]+]]("twice\00")
// CHECK-DAG: llvm.mlir.global internal constant @[[ONCE:sparse_autograd.string_[0-9]+]]("once\00")
// CHECK-DAG: llvm.func @sparse_autograd.string()
// CHECK-DAG: llvm.func @sparseAutogradRaise(i32, !llvm.ptr)
// CHECK-DAG: llvm.func @sparseAutogradLog(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr)
// CHECK-NOT: llvm.mlir.global
// CHECK-NOT: llvm.func @sparseAutogradRaise
func.func @sparse_autograd.string() {
  return
}

// CHECK: llvm.func @asserts
// CHECK: llvm.mlir.addressof @[[TWICE]]
// CHECK: llvm.mlir.addressof @[[TWICE]]
// CHECK: llvm.mlir.addressof @[[ONCE]]
// CHECK: llvm.mlir.addressof @[[TWICE]]
func.func @asserts(%a: i1, %b: i1, %c: i1, %x: f64) {
  sparse_autograd.log "twice" %x : f64
  cf.assert %a, "twice"
  cf.assert %b, "once"
  cf.assert %c, "twice"
  return
}
