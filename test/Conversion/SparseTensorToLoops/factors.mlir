// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse --canonicalize --cse | FileCheck %s

// A product of dense matrices that is read only where a sparse one stores
// something is computed there.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
#Vector = #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @factor
// CHECK-NOT:   linalg.
// CHECK:       math.tanh
// CHECK-NOT:   linalg.
// CHECK:       return
func.func @factor(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %y: tensor<8x?xf64>, %z: tensor<?x?xf64>, %out: tensor<?xf64>) -> tensor<?xf64> {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %s = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %p : tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %t = math.tanh %v : f64
    %m = arith.mulf %u, %t : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s : tensor<?xf64>
}

// So is what is computed of one, element by element.

// CHECK-LABEL: func.func @chain
// CHECK-NOT:   linalg.matmul
// CHECK:       return
func.func @chain(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %y: tensor<8x?xf64>, %z: tensor<?x?xf64>) -> tensor<?x?xf64, #CSR> {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %e = linalg.exp ins(%p : tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %g = sparse_autograd.zeros %a : tensor<?x?xf64, #CSR> -> tensor<?x?xf64, #CSR>
  %r = sparse_autograd.sampled_generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %e : tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%g : tensor<?x?xf64, #CSR>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %m = arith.divf %v, %u : f64
    linalg.yield %m : f64
  } -> tensor<?x?xf64, #CSR>
  return %r : tensor<?x?xf64, #CSR>
}

// Also with what is there, before or behind it.

// CHECK-LABEL: func.func @with_another
// CHECK-NOT:   linalg.matmul
// CHECK:       return
func.func @with_another(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %y: tensor<8x?xf64>, %d: tensor<?x?xf64>, %z: tensor<?x?xf64>, %out: tensor<?xf64>) -> tensor<?xf64> {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %e = linalg.sub ins(%d, %p : tensor<?x?xf64>, tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %f = linalg.sub ins(%e, %d : tensor<?x?xf64>, tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %s = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %f : tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %m = arith.mulf %u, %v : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s : tensor<?xf64>
}

// Elementwise ops on what is there are none: they are computed where they are
// read.

// CHECK-LABEL: func.func @elementwise
// CHECK:       %[[N:.*]] = linalg.negf
// CHECK:       %[[E:.*]] = linalg.exp ins(%[[N]]
// CHECK-COUNT-2: scf.for
// CHECK:       tensor.extract %[[E]]
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @elementwise(%a: tensor<?x?xf64, #CSR>, %d: tensor<?x?xf64>, %z: tensor<?x?xf64>, %out: tensor<?xf64>) -> tensor<?xf64> {
  %n = linalg.negf ins(%d : tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %e = linalg.exp ins(%n : tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %s = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %e : tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %m = arith.mulf %u, %v : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s : tensor<?xf64>
}

// A sum is read everywhere, and a product that is returned is needed whole.

// CHECK-LABEL: func.func @sum
// CHECK:       linalg.matmul
// CHECK:       return
func.func @sum(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %y: tensor<8x?xf64>, %z: tensor<?x?xf64>, %out: tensor<?xf64>) -> tensor<?xf64> {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %s = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %p : tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %m = arith.addf %u, %v : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s : tensor<?xf64>
}

// CHECK-LABEL: func.func @needed
// CHECK:       %[[P:.*]] = linalg.matmul
// CHECK-COUNT-2: scf.for
// CHECK:       tensor.extract %[[P]]
// CHECK-NOT:   scf.for
// CHECK:       return %{{.*}}, %[[P]]
func.func @needed(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %y: tensor<8x?xf64>, %z: tensor<?x?xf64>, %out: tensor<?xf64>) -> (tensor<?xf64>, tensor<?x?xf64>) {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %s = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %p : tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %m = arith.mulf %u, %v : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s, %p : tensor<?xf64>, tensor<?x?xf64>
}

// Read with the dimensions exchanged it is read elsewhere.

// CHECK-LABEL: func.func @exchanged
// CHECK:       linalg.matmul
// CHECK:       return
func.func @exchanged(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %y: tensor<8x?xf64>, %z: tensor<?x?xf64>, %out: tensor<?xf64>) -> tensor<?xf64> {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j, i)>, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %p : tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %m = arith.mulf %u, %v : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s : tensor<?xf64>
}

// What two patterns read together is needed where either stores something.

// CHECK-LABEL: func.func @two_patterns
// CHECK:       linalg.matmul
// CHECK:       return
func.func @two_patterns(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %y: tensor<8x?xf64>, %z: tensor<?x?xf64>, %out: tensor<?xf64>) -> tensor<?xf64> {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %s = linalg.generic {indexing_maps = [#id, #id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b, %p : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%u: f64, %w: f64, %v: f64, %o: f64):
    %q = arith.addf %u, %w : f64
    %m = arith.mulf %q, %v : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s : tensor<?xf64>
}

// Of two factors the one that is read at the same place has the pattern.

// CHECK-LABEL: func.func @second_factor
// CHECK-NOT:   linalg.matmul
// CHECK:       return
func.func @second_factor(%a: tensor<?xf64, #Vector>, %b: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %y: tensor<8x?xf64>, %z: tensor<?x?xf64>, %out: tensor<?xf64>) -> tensor<?xf64> {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %s = linalg.generic {indexing_maps = [#row, #id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b, %p : tensor<?xf64, #Vector>, tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%u: f64, %w: f64, %v: f64, %o: f64):
    %q = arith.mulf %u, %w : f64
    %m = arith.mulf %q, %v : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s : tensor<?xf64>
}

// What windows read is computed once, whatever the windows are of.

// CHECK-LABEL: func.func @windows
// CHECK:       linalg.matmul
// CHECK:       return
func.func @windows(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %y: tensor<8x?xf64>, %z: tensor<?x?xf64>, %w: tensor<2xf64>, %out: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %s = linalg.generic {
        indexing_maps = [affine_map<(i, j, k) -> (i + k, j)>, affine_map<(i, j, k) -> (i + k, j)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %p, %w : tensor<?x?xf64, #CSR>, tensor<?x?xf64>, tensor<2xf64>) outs(%out : tensor<?x?xf64>) {
  ^bb0(%u: f64, %v: f64, %t: f64, %o: f64):
    %q = arith.mulf %u, %v : f64
    %m = arith.mulf %q, %t : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  } -> tensor<?x?xf64>
  return %s : tensor<?x?xf64>
}

// Elementwise readers of a product that need it whole: one with two results, one
// that sums, one that exchanges the dimensions, and one that starts from it.

// CHECK-LABEL: func.func @read_by_two_results
// CHECK:       %[[P:.*]] = linalg.matmul
// CHECK-COUNT-2: scf.for
// CHECK:       tensor.extract %[[P]]
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @read_by_two_results(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %y: tensor<8x?xf64>, %z: tensor<?x?xf64>, %out: tensor<?xf64>) -> tensor<?xf64> {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %e:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x?xf64>) outs(%z, %z : tensor<?x?xf64>, tensor<?x?xf64>) {
  ^bb0(%u: f64, %o: f64, %r: f64):
    %v = math.sin %u : f64
    %w = math.cos %u : f64
    linalg.yield %v, %w : f64, f64
  } -> (tensor<?x?xf64>, tensor<?x?xf64>)
  %s = linalg.generic {indexing_maps = [#id, #id, #id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %p, %e#0, %e#1 : tensor<?x?xf64, #CSR>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %g: f64, %h: f64, %o: f64):
    %q = arith.mulf %g, %h : f64
    %t = arith.mulf %v, %q : f64
    %m = arith.mulf %u, %t : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s : tensor<?xf64>
}

// CHECK-LABEL: func.func @read_exchanged
// CHECK:       %[[P:.*]] = linalg.matmul
// CHECK-COUNT-2: scf.for
// CHECK:       tensor.extract %[[P]]
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @read_exchanged(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %y: tensor<8x?xf64>, %z: tensor<?x?xf64>, %out: tensor<?xf64>) -> tensor<?xf64> {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) {
  ^bb0(%u: f64, %o: f64):
    %v = math.sin %u : f64
    linalg.yield %v : f64
  } -> tensor<?x?xf64>
  %s = linalg.generic {indexing_maps = [#id, #id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %p, %e : tensor<?x?xf64, #CSR>, tensor<?x?xf64>, tensor<?x?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %g: f64, %o: f64):
    %t = arith.mulf %v, %g : f64
    %m = arith.mulf %u, %t : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s : tensor<?xf64>
}

// CHECK-LABEL: func.func @read_summed
// CHECK:       %[[P:.*]] = linalg.matmul
// CHECK-COUNT-2: scf.for
// CHECK:       tensor.extract %[[P]]
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @read_summed(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %y: tensor<8x?xf64>, %z: tensor<?x?xf64>, %out: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %e = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<?x?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%u: f64, %o: f64):
    %v = arith.addf %u, %o : f64
    linalg.yield %v : f64
  } -> tensor<?xf64>
  %s = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %p : tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %m = arith.mulf %u, %v : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s, %e : tensor<?xf64>, tensor<?xf64>
}

// CHECK-LABEL: func.func @started_from
// CHECK:       %[[P:.*]] = linalg.matmul
// CHECK-COUNT-2: scf.for
// CHECK:       tensor.extract %[[P]]
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @started_from(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %y: tensor<8x?xf64>, %z: tensor<?x?xf64>, %out: tensor<?xf64>) -> tensor<?xf64> {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%z : tensor<?x?xf64>) outs(%p : tensor<?x?xf64>) {
  ^bb0(%u: f64, %o: f64):
    %v = arith.addf %u, %o : f64
    linalg.yield %v : f64
  } -> tensor<?x?xf64>
  %s = linalg.generic {indexing_maps = [#id, #id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %p, %e : tensor<?x?xf64, #CSR>, tensor<?x?xf64>, tensor<?x?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %g: f64, %o: f64):
    %t = arith.mulf %v, %g : f64
    %m = arith.mulf %u, %t : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s : tensor<?xf64>
}

// Behind a product that is needed whole another one is sampled.

// CHECK-LABEL: func.func @second_product
// CHECK-COUNT-1: linalg.matmul
// CHECK-NOT:   linalg.matmul
// CHECK:       return
func.func @second_product(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %y: tensor<8x?xf64>, %z: tensor<?x?xf64>, %out: tensor<?xf64>) -> (tensor<?xf64>, tensor<?x?xf64>) {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  %q = linalg.matmul ins(%x, %y : tensor<?x8xf64>, tensor<8x?xf64>) outs(%p : tensor<?x?xf64>) -> tensor<?x?xf64>
  %s = linalg.generic {indexing_maps = [#id, #id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p, %q, %a : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64, #CSR>) outs(%out : tensor<?xf64>) {
  ^bb0(%v: f64, %w: f64, %u: f64, %o: f64):
    %t = arith.mulf %v, %w : f64
    %m = arith.mulf %u, %t : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s, %p : tensor<?xf64>, tensor<?x?xf64>
}
