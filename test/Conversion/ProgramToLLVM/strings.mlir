// RUN: sparse-opt %s --sparse-autograd-program-to-llvm | FileCheck %s

// Equal messages share a constant; a name that the program has is not taken
// again.

// CHECK-DAG: llvm.mlir.global internal constant @sparse_autograd.message.1("twice\00")
// CHECK-DAG: llvm.mlir.global internal constant @sparse_autograd.message.2("once\00")
// CHECK-DAG: llvm.mlir.global internal constant @sparse_autograd.log_name.0("twice\00")
// CHECK-DAG: llvm.func @sparse_autograd.message.0()
// CHECK-DAG: llvm.func @sparseAutogradRaise(i32, !llvm.ptr)
// CHECK-DAG: llvm.func @sparseAutogradLog(i64, !llvm.ptr, !llvm.ptr, !llvm.ptr)
// CHECK-NOT: llvm.mlir.global
// CHECK-NOT: llvm.func @sparseAutogradRaise
func.func @sparse_autograd.message.0() {
  return
}

// CHECK: llvm.func @asserts
// CHECK: llvm.mlir.addressof @sparse_autograd.message.1
// CHECK: llvm.mlir.addressof @sparse_autograd.message.2
// CHECK: llvm.mlir.addressof @sparse_autograd.message.1
func.func @asserts(%a: i1, %b: i1, %c: i1, %x: f64) {
  sparse_autograd.log "twice" %x : f64
  cf.assert %a, "twice"
  cf.assert %b, "once"
  cf.assert %c, "twice"
  return
}
