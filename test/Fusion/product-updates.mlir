// RUN: sparse-opt %s --sparse-autograd-fuse | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd=compile-to=target | FileCheck %s --check-prefix=CALL
// RUN: sparse-runner %s --entry=descent | FileCheck %s --check-prefix=VALUES

#id = affine_map<(i, j) -> (i, j)>

// A step of gradient descent: the gradient is subtracted where it is computed.

// CHECK-LABEL: func.func @step
//  CHECK-SAME:     %[[X:[^:]+]]: tensor<?x?xf32>, %[[D:[^:]+]]: tensor<?x?xf32>, %[[W:[^:]+]]: tensor<?x?xf32>
//       CHECK:   %[[RATE:.+]] = arith.constant 0.00999999977 : f32
//   CHECK-NOT:   linalg.fill
//       CHECK:   %[[NEXT:.+]] = linalg.generic {{.*}} ins(%[[X]], %[[D]] : tensor<?x?xf32>, tensor<?x?xf32>) outs(%[[W]] : tensor<?x?xf32>)
//       CHECK:   ^bb0(%[[A:.+]]: f32, %[[B:.+]]: f32, %[[C:.+]]: f32):
//       CHECK:     %[[P:.+]] = arith.mulf %[[A]], %[[B]] : f32
//       CHECK:     %[[Q:.+]] = arith.mulf %[[P]], %[[RATE]] : f32
//       CHECK:     %[[R:.+]] = arith.subf %[[C]], %[[Q]] : f32
//       CHECK:     linalg.yield %[[R]] : f32
//       CHECK:   return %[[NEXT]]

// CALL-LABEL: llvm.func @sparse_autograd.function.step(
//       CALL:   %[[ALPHA:.+]] = llvm.mlir.constant(-0.00999999977 : f32) : f32
//       CALL:   llvm.call @sparseAutogradGemmF32({{.*}}, %[[ALPHA]],
func.func @step(%x: tensor<?x?xf32>, %d: tensor<?x?xf32>, %w: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rate = arith.constant 1.0e-2 : f32
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %w, %c0 : tensor<?x?xf32>
  %n = tensor.dim %w, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %g = linalg.matmul ins(%x, %d : tensor<?x?xf32>, tensor<?x?xf32>) outs(%zeros : tensor<?x?xf32>) -> tensor<?x?xf32>
  %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %g : tensor<?x?xf32>, tensor<?x?xf32>) outs(%w : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %b, %rate : f32
    %v = arith.subf %a, %p : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %next : tensor<?x?xf32>
}

// The sum of a product and what it was made of, in the other order.

// CHECK-LABEL: func.func @residual
//  CHECK-SAME:     %[[X:[^:]+]]: tensor<32x32xf64>, %[[W:[^:]+]]: tensor<32x32xf64>
//   CHECK-NOT:   linalg.fill
//       CHECK:   linalg.generic {{.*}} ins(%[[X]], %[[W]] : tensor<32x32xf64>, tensor<32x32xf64>) outs(%[[X]] : tensor<32x32xf64>)
func.func @residual(%x: tensor<32x32xf64>, %w: tensor<32x32xf64>) -> tensor<32x32xf64> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<32x32xf64>
  %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<32x32xf64>) -> tensor<32x32xf64>
  %p = linalg.matmul ins(%x, %w : tensor<32x32xf64>, tensor<32x32xf64>) outs(%start : tensor<32x32xf64>) -> tensor<32x32xf64>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %x : tensor<32x32xf64>, tensor<32x32xf64>) outs(%empty : tensor<32x32xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %v = arith.addf %a, %b : f64
    linalg.yield %v : f64
  } -> tensor<32x32xf64>
  return %y : tensor<32x32xf64>
}

// A product that somebody else reads exists.

// CHECK-LABEL: func.func @shared
//       CHECK:   %[[ZEROS:.+]] = linalg.fill
//       CHECK:   %[[P:.+]] = linalg.{{.*}} outs(%[[ZEROS]] : tensor<32x32xf64>)
//       CHECK:   %[[Y:.+]] = linalg.generic
//       CHECK:   return %[[Y]], %[[P]]
func.func @shared(%x: tensor<32x32xf64>, %w: tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32x32xf64>) {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<32x32xf64>
  %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<32x32xf64>) -> tensor<32x32xf64>
  %p = linalg.matmul ins(%x, %w : tensor<32x32xf64>, tensor<32x32xf64>) outs(%start : tensor<32x32xf64>) -> tensor<32x32xf64>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %p : tensor<32x32xf64>, tensor<32x32xf64>) outs(%empty : tensor<32x32xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %v = arith.addf %a, %b : f64
    linalg.yield %v : f64
  } -> tensor<32x32xf64>
  return %y, %p : tensor<32x32xf64>, tensor<32x32xf64>
}

// A difference the other way is none of C.

// CHECK-LABEL: func.func @reversed
//       CHECK:   linalg.fill
//       CHECK:   arith.subf
func.func @reversed(%x: tensor<32x32xf64>, %w: tensor<32x32xf64>) -> tensor<32x32xf64> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<32x32xf64>
  %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<32x32xf64>) -> tensor<32x32xf64>
  %p = linalg.matmul ins(%x, %w : tensor<32x32xf64>, tensor<32x32xf64>) outs(%start : tensor<32x32xf64>) -> tensor<32x32xf64>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %x : tensor<32x32xf64>, tensor<32x32xf64>) outs(%empty : tensor<32x32xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %v = arith.subf %a, %b : f64
    linalg.yield %v : f64
  } -> tensor<32x32xf64>
  return %y : tensor<32x32xf64>
}

// The weights 10 less 0.01 times 32 products 2 * 3, executed.

// VALUES: result0 = {{8.07999|8.08}}
func.func @descent() -> f32 {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<2.0> : tensor<32x32xf32>
  %d = arith.constant dense<3.0> : tensor<32x32xf32>
  %w = arith.constant dense<10.0> : tensor<32x32xf32>
  %dx = tensor.cast %x : tensor<32x32xf32> to tensor<?x?xf32>
  %dd = tensor.cast %d : tensor<32x32xf32> to tensor<?x?xf32>
  %dw = tensor.cast %w : tensor<32x32xf32> to tensor<?x?xf32>
  %next = func.call @step(%dx, %dd, %dw) : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %e = tensor.extract %next[%c0, %c0] : tensor<?x?xf32>
  return %e : f32
}

// -----

// A product of another type stays one of its own.

// CHECK-LABEL: func.func @mixed(
// CHECK:         linalg.matmul
// CHECK:         linalg.generic
// CHECK:           arith.addf
func.func @mixed(%a: tensor<64x64xf32>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf16>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %c : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %y, %x : f32
      linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
