// Sparse attention, forward and backward:
//
//   O = softmax(Q K^T / sqrt(d), on the pattern) V
//
// A step moves queries, keys and values against the gradient of the sum of O * T.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
!sparse = tensor<?x?xf32, #CSR>
!mask = tensor<?x?xi1, #CSR>
!matrix = tensor<?x64xf32>

func.func private @loss(%q: !matrix, %k: !matrix, %v: !matrix, %pattern: !mask, %target: !matrix) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %positions = tensor.dim %pattern, %c0 : !mask
  %keys = tensor.dim %pattern, %c1 : !mask
  %empty = tensor.empty(%positions, %keys) : tensor<?x?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %products = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : !matrix, !matrix) outs(%none : tensor<?x?xf32>) {
    ^bb0(%qi: f32, %kj: f32, %sum: f32):
      %product = arith.mulf %qi, %kj : f32
      %next = arith.addf %sum, %product : f32
      linalg.yield %next : f32
  } -> tensor<?x?xf32>
  %sampled = sparse_autograd.sample %products, %pattern : tensor<?x?xf32>, !mask -> !sparse
  %no_scores = tensor.empty(%positions, %keys) : !sparse
  %scores = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%sampled : !sparse) outs(%no_scores : !sparse) {
    ^bb0(%s: f32, %out: f32):
      %scaled = arith.mulf %scale, %s : f32
      linalg.yield %scaled : f32
  } -> !sparse
  %weights = sparse_autograd.masked_softmax %scores, %pattern dims = [1] : !sparse, !mask
  %no_rows = tensor.empty(%positions) : !matrix
  %zeros = linalg.fill ins(%zero : f32) outs(%no_rows : !matrix) -> !matrix
  %mixed = linalg.matmul ins(%weights, %v : !sparse, !matrix) outs(%zeros : !matrix) -> !matrix
  %terms = arith.mulf %mixed, %target : !matrix
  %loss = sparse_autograd.masked_reduce sum %terms dims = [0, 1] : !matrix -> tensor<f32>
  return %loss : tensor<f32>
}

func.func private @descend(%x: !matrix, %dx: !matrix, %rate: f32) -> !matrix {
  %new = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%dx, %rate : !matrix, f32) outs(%x : !matrix) {
    ^bb0(%g: f32, %r: f32, %xi: f32):
      %change = arith.mulf %r, %g : f32
      %next = arith.subf %xi, %change : f32
      linalg.yield %next : f32
  } -> !matrix
  return %new : !matrix
}

func.func @run(%q: !matrix {sparse_autograd.name = "q"}, %k: !matrix {sparse_autograd.name = "k"},
    %v: !matrix {sparse_autograd.name = "v"}, %pattern: !mask {sparse_autograd.name = "pattern"},
    %target: !matrix {sparse_autograd.name = "target"}, %rate: f32 {sparse_autograd.name = "rate"},
    %steps: index {sparse_autograd.name = "steps"})
    -> (!matrix {sparse_autograd.name = "q"}, !matrix {sparse_autograd.name = "k"},
        !matrix {sparse_autograd.name = "v"}, tensor<f32> {sparse_autograd.name = "losses"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant dense<0.0> : tensor<f32>
  %end:4 = scf.for %step = %c0 to %steps step %c1 iter_args(%qs = %q, %ks = %k, %vs = %v, %sum = %none)
      -> (!matrix, !matrix, !matrix, tensor<f32>) {
    %loss, %dq, %dk, %dv = sparse_autograd.value_and_grad @loss(%qs, %ks, %vs, %pattern, %target) {wrt = [0, 1, 2]}
        : (!matrix, !matrix, !matrix, !mask, !matrix) -> (tensor<f32>, !matrix, !matrix, !matrix)
    %q1 = func.call @descend(%qs, %dq, %rate) : (!matrix, !matrix, f32) -> !matrix
    %k1 = func.call @descend(%ks, %dk, %rate) : (!matrix, !matrix, f32) -> !matrix
    %v1 = func.call @descend(%vs, %dv, %rate) : (!matrix, !matrix, f32) -> !matrix
    %losses = arith.addf %sum, %loss : tensor<f32>
    scf.yield %q1, %k1, %v1, %losses : !matrix, !matrix, !matrix, tensor<f32>
  }
  return %end#0, %end#1, %end#2, %end#3 : !matrix, !matrix, !matrix, tensor<f32>
}
