// A step of the graph network of examples/gcn.mlir, without dropout:
//
//   H = relu(N X W1),  logits = N H W2
//
// N, the normalised adjacency matrix with the nodes themselves, and the features X
// are sparse. A step is the cross entropy of the selected nodes, its gradient by
// the weights, and Adam.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
#row = affine_map<(i, j) -> (i)>
#element = affine_map<(i, j) -> (i, j)>
!matrix = tensor<?x?xf32>
!sparse = tensor<?x?xf32, #CSR>
!column = tensor<?xf32>
!labels = tensor<?xi32>
!mask = tensor<?xi1>

func.func private @zeros(%rows: index, %columns: index) -> !matrix {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%rows, %columns) : !matrix
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : !matrix) -> !matrix
  return %zeros : !matrix
}

func.func private @loss(%w1: !matrix, %w2: !matrix, %n: !sparse, %x: !sparse, %labels: !labels,
    %selected: !mask) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %nodes = tensor.dim %n, %c0 : !sparse
  %hidden = tensor.dim %w1, %c1 : !matrix
  %classes = tensor.dim %w2, %c1 : !matrix
  %zeros1 = func.call @zeros(%nodes, %hidden) : (index, index) -> !matrix
  %xw = linalg.matmul ins(%x, %w1 : !sparse, !matrix) outs(%zeros1 : !matrix) -> !matrix
  %layer1 = linalg.matmul ins(%n, %xw : !sparse, !matrix) outs(%zeros1 : !matrix) -> !matrix
  %empty = tensor.empty(%nodes, %hidden) : !matrix
  %units = linalg.generic {indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%layer1 : !matrix) outs(%empty : !matrix) {
    ^bb0(%in: f32, %out: f32):
      %relu = arith.maximumf %in, %zero : f32
      linalg.yield %relu : f32
  } -> !matrix
  %zeros2 = func.call @zeros(%nodes, %classes) : (index, index) -> !matrix
  %hw = linalg.matmul ins(%units, %w2 : !matrix, !matrix) outs(%zeros2 : !matrix) -> !matrix
  %logits = linalg.matmul ins(%n, %hw : !sparse, !matrix) outs(%zeros2 : !matrix) -> !matrix
  %logs = sparse_autograd.masked_log_softmax %logits dims = [1] : !matrix
  %no_logs = tensor.empty(%nodes) : !column
  %no_sums = linalg.fill ins(%zero : f32) outs(%no_logs : !column) -> !column
  %of_labels = linalg.generic {
      indexing_maps = [#element, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%logs, %labels : !matrix, !labels) outs(%no_sums : !column) {
    ^bb0(%log: f32, %label: i32, %sum: f32):
      %class = linalg.index 1 : index
      %wanted = arith.index_cast %label : i32 to index
      %is_label = arith.cmpi eq, %class, %wanted : index
      %value = arith.select %is_label, %log, %zero : f32
      %next = arith.addf %sum, %value : f32
      linalg.yield %next : f32
  } -> !column
  %mean = sparse_autograd.masked_reduce mean %of_labels, %selected dims = [0] : !column, !mask -> tensor<f32>
  %loss = arith.negf %mean : tensor<f32>
  return %loss : tensor<f32>
}

func.func private @adam(%x: !matrix, %g: !matrix, %m: !matrix, %v: !matrix,
    %correction1: f32, %correction2: f32) -> (!matrix, !matrix, !matrix) {
  %beta1 = arith.constant 0.9 : f32
  %beta2 = arith.constant 0.999 : f32
  %rest1 = arith.constant 0.1 : f32
  %rest2 = arith.constant 0.001 : f32
  %rate = arith.constant 0.01 : f32
  %epsilon = arith.constant 1.0e-8 : f32
  %new:3 = linalg.generic {
      indexing_maps = [#element, #element, #element, #element],
      iterator_types = ["parallel", "parallel"]}
      ins(%g : !matrix) outs(%x, %m, %v : !matrix, !matrix, !matrix) {
    ^bb0(%gi: f32, %xi: f32, %mi: f32, %vi: f32):
      %m1 = arith.mulf %beta1, %mi : f32
      %m2 = arith.mulf %rest1, %gi : f32
      %m_new = arith.addf %m1, %m2 : f32
      %g2 = arith.mulf %gi, %gi : f32
      %v1 = arith.mulf %beta2, %vi : f32
      %v2 = arith.mulf %rest2, %g2 : f32
      %v_new = arith.addf %v1, %v2 : f32
      %m_hat = arith.divf %m_new, %correction1 : f32
      %v_hat = arith.divf %v_new, %correction2 : f32
      %root = math.sqrt %v_hat : f32
      %denominator = arith.addf %root, %epsilon : f32
      %direction = arith.divf %m_hat, %denominator : f32
      %step = arith.mulf %rate, %direction : f32
      %x_new = arith.subf %xi, %step : f32
      linalg.yield %x_new, %m_new, %v_new : f32, f32, f32
  } -> (!matrix, !matrix, !matrix)
  return %new#0, %new#1, %new#2 : !matrix, !matrix, !matrix
}

func.func @run(%n: !sparse {sparse_autograd.name = "n"}, %x: !sparse {sparse_autograd.name = "x"},
    %labels: !labels {sparse_autograd.name = "labels"}, %selected: !mask {sparse_autograd.name = "selected"},
    %w1: !matrix {sparse_autograd.name = "w1"}, %w2: !matrix {sparse_autograd.name = "w2"},
    %steps: index {sparse_autograd.name = "steps"})
    -> (!matrix {sparse_autograd.name = "w1"}, !matrix {sparse_autograd.name = "w2"},
        tensor<f32> {sparse_autograd.name = "losses"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %beta1 = arith.constant 0.9 : f32
  %beta2 = arith.constant 0.999 : f32
  %none = arith.constant dense<0.0> : tensor<f32>
  %inputs = tensor.dim %w1, %c0 : !matrix
  %hidden = tensor.dim %w1, %c1 : !matrix
  %classes = tensor.dim %w2, %c1 : !matrix
  %zeros1 = func.call @zeros(%inputs, %hidden) : (index, index) -> !matrix
  %zeros2 = func.call @zeros(%hidden, %classes) : (index, index) -> !matrix
  %end:9 = scf.for %step = %c0 to %steps step %c1
      iter_args(%w1s = %w1, %w2s = %w2, %m1 = %zeros1, %m2 = %zeros2, %v1 = %zeros1, %v2 = %zeros2,
                %sum = %none, %power1 = %one, %power2 = %one)
      -> (!matrix, !matrix, !matrix, !matrix, !matrix, !matrix, tensor<f32>, f32, f32) {
    %loss, %g1, %g2 = sparse_autograd.value_and_grad @loss(%w1s, %w2s, %n, %x, %labels, %selected) {wrt = [0, 1]}
        : (!matrix, !matrix, !sparse, !sparse, !labels, !mask) -> (tensor<f32>, !matrix, !matrix)
    %next1 = arith.mulf %power1, %beta1 : f32
    %next2 = arith.mulf %power2, %beta2 : f32
    %correction1 = arith.subf %one, %next1 : f32
    %correction2 = arith.subf %one, %next2 : f32
    %w1n, %m1n, %v1n = func.call @adam(%w1s, %g1, %m1, %v1, %correction1, %correction2)
        : (!matrix, !matrix, !matrix, !matrix, f32, f32) -> (!matrix, !matrix, !matrix)
    %w2n, %m2n, %v2n = func.call @adam(%w2s, %g2, %m2, %v2, %correction1, %correction2)
        : (!matrix, !matrix, !matrix, !matrix, f32, f32) -> (!matrix, !matrix, !matrix)
    %losses = arith.addf %sum, %loss : tensor<f32>
    scf.yield %w1n, %w2n, %m1n, %m2n, %v1n, %v2n, %losses, %next1, %next2
        : !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, tensor<f32>, f32, f32
  }
  return %end#0, %end#1, %end#6 : !matrix, !matrix, tensor<f32>
}
