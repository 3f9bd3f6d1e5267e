// RUN: sparse-opt %s --sparse-autograd-parallel-calls-to-runtime | FileCheck %s

// A chunk has one iteration, or so many that there are about 256 chunks.

// CHECK-LABEL: llvm.func internal @body.chunk(
//  CHECK-SAME:     %[[ENVIRONMENT:[^:]+]]: !llvm.ptr, %[[BEGIN:[^:]+]]: i64, %[[END:[^:]+]]: i64)
//       CHECK:   %[[PACKED:.+]] = llvm.load %[[ENVIRONMENT]]
//       CHECK:   %[[CAPTURE:.+]] = llvm.extractvalue %[[PACKED]][0]
//       CHECK:   llvm.call @body(%[[BEGIN]], %[[END]], %[[CAPTURE]])
// CHECK-LABEL: llvm.func @caller(
//  CHECK-SAME:     %[[COUNT:[^:]+]]: i64, %[[X:[^:]+]]: f32)
//       CHECK:   %[[SLOT:.+]] = llvm.alloca
//       CHECK:   %[[BODY:.+]] = llvm.mlir.addressof @body.chunk
//       CHECK:   %[[WANTED:.+]] = llvm.mlir.constant(256 : i64)
//       CHECK:   %[[SHARE:.+]] = llvm.udiv %[[COUNT]], %[[WANTED]]
//       CHECK:   %[[ONE:.+]] = llvm.mlir.constant(1 : i64)
//       CHECK:   %[[GRAIN:.+]] = llvm.intr.umax(%[[SHARE]], %[[ONE]])
//       CHECK:   llvm.call @sparseAutogradParallelFor(%[[COUNT]], %[[GRAIN]], %[[BODY]], %[[SLOT]])
llvm.func @body(%begin: i64, %end: i64, %x: f32) {
  llvm.return
}

llvm.func @caller(%count: i64, %x: f32) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  llvm.call @body(%zero, %count, %x) {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>} : (i64, i64, f32) -> ()
  llvm.return
}
