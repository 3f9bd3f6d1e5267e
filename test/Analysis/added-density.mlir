// The first dense tensor that a derivative adds over two dimensions of the program
// (lib/Analysis/AddedDensity.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-added-density -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      @dense: outer, dimensions 0 and 1, made of arg0
// CHECK-NEXT: @sparse: adds nothing
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#id = affine_map<(i, j) -> (i, j)>
func.func private @program(%x: tensor<?x?xf64, #CSR>, %v: tensor<?xf64>, %out: tensor<?xf64>) -> tensor<?xf64> {
  %0 = linalg.matvec ins(%x, %v : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%out : tensor<?xf64>) -> tensor<?xf64>
  return %0 : tensor<?xf64>
}
// The outer product of the cotangent and v is over the dimensions of x.
func.func @dense(%x: tensor<?x?xf64, #CSR>, %v: tensor<?xf64>, %out: tensor<?xf64>, %ct: tensor<?xf64>) -> tensor<?x?xf64, #CSR>
    attributes {sparse_autograd.derivative_of = @program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %ct, %c0 : tensor<?xf64>
  %n = tensor.dim %v, %c0 : tensor<?xf64>
  %y = linalg.matvec ins(%x, %v : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%ct : tensor<?xf64>) -> tensor<?xf64>
  %e = tensor.empty(%m, %n) : tensor<?x?xf64>
  %outer = linalg.generic {indexing_maps = [#row, #column, #id], iterator_types = ["parallel", "parallel"], tag = "outer"}
      ins(%y, %v : tensor<?xf64>, tensor<?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    linalg.yield %p : f64
  } -> tensor<?x?xf64>
  %g = sparse_tensor.convert %outer : tensor<?x?xf64> to tensor<?x?xf64, #CSR>
  return %g : tensor<?x?xf64, #CSR>
}
func.func @sparse(%x: tensor<?x?xf64, #CSR>, %v: tensor<?xf64>, %out: tensor<?xf64>, %ct: tensor<?xf64>) -> tensor<?xf64>
    attributes {sparse_autograd.derivative_of = @program} {
  %y = linalg.matvec ins(%x, %v : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%ct : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}
