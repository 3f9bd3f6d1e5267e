// The dense tensor on the way to a sparse gradient, unless something else needs it
// (lib/Analysis/GradientDensity.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-gradient-density -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      @dense, argument 0: dense product, read by product, read by convert
// CHECK-NEXT: @needed, argument 0: nothing dense
// CHECK-NEXT: @list, argument 0: nothing dense
// CHECK-NEXT: @list_of_dense, argument 0: dense product, read by product, read by convert, read by values, read by with
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

func.func @dense(%d: tensor<8x4xf64>, %w: tensor<4x4xf64>, %init: tensor<8x4xf64>) -> (tensor<8x4xf64, #CSR> {sparse_autograd.gradient_of = 0}) {
  %m = linalg.matmul {tag = "product"} ins(%d, %w : tensor<8x4xf64>, tensor<4x4xf64>) outs(%init : tensor<8x4xf64>) -> tensor<8x4xf64>
  %g = sparse_tensor.convert %m {tag = "convert"} : tensor<8x4xf64> to tensor<8x4xf64, #CSR>
  return %g : tensor<8x4xf64, #CSR>
}
// The product is a result too: it is there anyway.
func.func @needed(%d: tensor<8x4xf64>, %w: tensor<4x4xf64>, %init: tensor<8x4xf64>) -> (tensor<8x4xf64>, tensor<8x4xf64, #CSR> {sparse_autograd.gradient_of = 0}) {
  %m = linalg.matmul {tag = "product"} ins(%d, %w : tensor<8x4xf64>, tensor<4x4xf64>) outs(%init : tensor<8x4xf64>) -> tensor<8x4xf64>
  %g = sparse_tensor.convert %m {tag = "convert"} : tensor<8x4xf64> to tensor<8x4xf64, #CSR>
  return %m, %g : tensor<8x4xf64>, tensor<8x4xf64, #CSR>
}
// A list of stored values is no tensor with all elements, however often it is
// read.
#list = affine_map<(i) -> (i)>
func.func @list(%a: tensor<?x?xf64, #CSR>, %init: tensor<?xf64>) -> (tensor<?x?xf64, #CSR> {sparse_autograd.gradient_of = 0}) {
  %v = sparse_autograd.stored_values %a {tag = "values"} : tensor<?x?xf64, #CSR> -> tensor<?xf64>
  %e = linalg.generic {indexing_maps = [#list, #list], iterator_types = ["parallel"], tag = "square"}
      ins(%v : tensor<?xf64>) outs(%init : tensor<?xf64>) {
  ^bb0(%x: f64, %o: f64):
    %y = arith.mulf %x, %x : f64
    linalg.yield %y : f64
  } -> tensor<?xf64>
  %s = arith.mulf %e, %e {tag = "again"} : tensor<?xf64>
  %g = sparse_autograd.with_values %s, %a {tag = "with"} : tensor<?xf64>, tensor<?x?xf64, #CSR> -> tensor<?x?xf64, #CSR>
  return %g : tensor<?x?xf64, #CSR>
}
// What the list is of may be sampled from one.
func.func @list_of_dense(%d: tensor<8x4xf64>, %w: tensor<4x4xf64>, %init: tensor<8x4xf64>, %p: tensor<8x4xf64, #CSR>) -> (tensor<8x4xf64, #CSR> {sparse_autograd.gradient_of = 0}) {
  %m = linalg.matmul {tag = "product"} ins(%d, %w : tensor<8x4xf64>, tensor<4x4xf64>) outs(%init : tensor<8x4xf64>) -> tensor<8x4xf64>
  %c = sparse_tensor.convert %m {tag = "convert"} : tensor<8x4xf64> to tensor<8x4xf64, #CSR>
  %v = sparse_autograd.stored_values %c {tag = "values"} : tensor<8x4xf64, #CSR> -> tensor<?xf64>
  %g = sparse_autograd.with_values %v, %p {tag = "with"} : tensor<?xf64>, tensor<8x4xf64, #CSR> -> tensor<8x4xf64, #CSR>
  return %g : tensor<8x4xf64, #CSR>
}
