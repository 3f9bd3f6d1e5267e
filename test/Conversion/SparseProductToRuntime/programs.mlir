// RUN: sparse-opt %s --sparse-autograd="target=gpu libraries=cusparse" --mlir-print-ir-after=sparse-autograd-sparse-product-to-runtime -o /dev/null 2>&1 | FileCheck %s

// The products of a gradient of A B: A B itself, that with the transposed A, which
// is stored by rows as well, and the sampled one. What is computed where there is
// no library is in the buffer that the library is given.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

func.func private @loss(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32, #CSR>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32>) outs(%zeros : tensor<?x?xf32>) -> tensor<?x?xf32>
  %q = arith.mulf %p, %p : tensor<?x?xf32>
  %s = sparse_autograd.masked_reduce sum %q dims = [0, 1] : tensor<?x?xf32> -> tensor<f32>
  %v = tensor.extract %s[] : tensor<f32>
  return %v : f32
}

// CHECK-LABEL: func.func @gradient
//       CHECK:   %[[P:.+]] = call @sparseAutogradDeviceMultiplySparse(
//       CHECK:   %[[P_DONE:.+]] = arith.cmpi ne, %[[P]], %{{.+}} : i32
//       CHECK:   scf.if %[[P_DONE]] {
//  CHECK-NEXT:   } else {
//  CHECK-NEXT:     linalg.fill
//  CHECK-NEXT:     scf.for
//       CHECK:   %[[DB:.+]] = call @sparseAutogradDeviceMultiplySparse(
//       CHECK:   %[[DB_DONE:.+]] = arith.cmpi ne, %[[DB]], %{{.+}} : i32
//       CHECK:   scf.if %[[DB_DONE]] {
//  CHECK-NEXT:   } else {
//  CHECK-NEXT:     linalg.fill
//  CHECK-NEXT:     scf.for
//       CHECK:   %[[DA:.+]] = call @sparseAutogradDeviceSampleProduct(
//       CHECK:   %[[DA_DONE:.+]] = arith.cmpi ne, %[[DA]], %{{.+}} : i32
//       CHECK:   scf.if %[[DA_DONE]] {
//  CHECK-NEXT:   } else {
//  CHECK-NEXT:     linalg.fill
//  CHECK-NEXT:     scf.for
//       CHECK:   return
func.func @gradient(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32>) -> (tensor<?x?xf32, #CSR>, tensor<?x?xf32>) {
  %l, %da, %db = sparse_autograd.value_and_grad @loss(%a, %b) {wrt = [0, 1]}
      : (tensor<?x?xf32, #CSR>, tensor<?x?xf32>) -> (f32, tensor<?x?xf32, #CSR>, tensor<?x?xf32>)
  return %da, %db : tensor<?x?xf32, #CSR>, tensor<?x?xf32>
}
