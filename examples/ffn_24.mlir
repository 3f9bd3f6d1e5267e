// Training a feed-forward block whose weights are stored as 2:4.
//
//   y = relu(x S1^T) S2^T
//
// S1 and S2 are what is kept of dense weights W1 and W2, which SGD updates where
// they are kept. What is kept is selected anew every `refresh` steps, so that
// weights that have become small make room; in between it is that of the weights
// of then (`sparsify_24_like`). Both orders of a matrix are packed from one
// choice: the forward products read one, dX reads the other.
//
//   sparse-runner examples/ffn_24.mlir --entry=planted --arg seed=0
//
// feed_forward_24.mlir has dense weights of which selected values are read, with
// gradients that pass the selection.

#Rows = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
#matrix = affine_map<(i, j) -> (i, j)>

!matrix = tensor<?x?xf64>
!packed = tensor<?x?xf64, #Rows>

// x w^T.
func.func private @product(%x: !matrix, %w: !packed) -> !matrix {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %rows = tensor.dim %x, %c0 : !matrix
  %columns = tensor.dim %w, %c0 : !packed
  %empty = tensor.empty(%rows, %columns) : !matrix
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : !matrix) -> !matrix
  %product = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>,
                       affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : !matrix, !packed) outs(%zeros : !matrix) {
  ^bb0(%a: f64, %b: f64, %sum: f64):
    %term = arith.mulf %a, %b : f64
    %next = arith.addf %sum, %term : f64
    linalg.yield %next : f64
  } -> !matrix
  return %product : !matrix
}

// The mean squared error of the block, with what `like1` and `like2` keep.
func.func private @loss(%w1: !matrix, %w2: !matrix, %like1: !matrix, %like2: !matrix,
    %x: !matrix, %target: !matrix) -> f64 {
  %zero = arith.constant 0.0 : f64
  %s1 = sparse_autograd.sparsify_24_like %w1, %like1 select = greedy gradient = sparse
      : !matrix, !matrix -> !packed
  %s2 = sparse_autograd.sparsify_24_like %w2, %like2 select = greedy gradient = sparse
      : !matrix, !matrix -> !packed
  %sums = func.call @product(%x, %s1) : (!matrix, !packed) -> !matrix
  %hidden = linalg.generic {indexing_maps = [#matrix, #matrix],
      iterator_types = ["parallel", "parallel"]}
      ins(%sums : !matrix) outs(%sums : !matrix) {
  ^bb0(%sum: f64, %out: f64):
    %positive = arith.maximumf %sum, %zero : f64
    linalg.yield %positive : f64
  } -> !matrix
  %y = func.call @product(%hidden, %s2) : (!matrix, !packed) -> !matrix
  %error = arith.subf %y, %target : !matrix
  %square = arith.mulf %error, %error : !matrix
  %mean = sparse_autograd.masked_reduce mean %square dims = [0, 1] : !matrix -> tensor<f64>
  %loss = tensor.extract %mean[] : tensor<f64>
  return %loss : f64
}

func.func private @descend(%w: !matrix, %gradient: !matrix, %rate: f64) -> !matrix {
  %next = linalg.generic {indexing_maps = [#matrix, #matrix],
      iterator_types = ["parallel", "parallel"]}
      ins(%gradient : !matrix) outs(%w : !matrix) {
  ^bb0(%g: f64, %old: f64):
    %change = arith.mulf %rate, %g : f64
    %new = arith.subf %old, %change : f64
    linalg.yield %new : f64
  } -> !matrix
  return %next : !matrix
}

// Returns the loss before each step, and the weights.
func.func @train(%w10: !matrix, %w20: !matrix, %x: !matrix, %target: !matrix, %rate: f64,
    %steps: index, %refresh: index) -> (tensor<?xf64>, !matrix, !matrix) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = tensor.empty(%steps) : tensor<?xf64>
  %end:5 = scf.for %step = %c0 to %steps step %c1
      iter_args(%w1 = %w10, %w2 = %w20, %old1 = %w10, %old2 = %w20, %losses = %none)
      -> (!matrix, !matrix, !matrix, !matrix, tensor<?xf64>) {
    %phase = arith.remui %step, %refresh : index
    %selects = arith.cmpi eq, %phase, %c0 : index
    %like1 = arith.select %selects, %w1, %old1 : !matrix
    %like2 = arith.select %selects, %w2, %old2 : !matrix
    %loss, %g1, %g2 = sparse_autograd.value_and_grad @loss(%w1, %w2, %like1, %like2, %x, %target)
        {wrt = [0, 1]} : (!matrix, !matrix, !matrix, !matrix, !matrix, !matrix)
        -> (f64, !matrix, !matrix)
    %next1 = func.call @descend(%w1, %g1, %rate) : (!matrix, !matrix, f64) -> !matrix
    %next2 = func.call @descend(%w2, %g2, %rate) : (!matrix, !matrix, f64) -> !matrix
    %logged = tensor.insert %loss into %losses[%step] : tensor<?xf64>
    scf.yield %next1, %next2, %like1, %like2, %logged
        : !matrix, !matrix, !matrix, !matrix, tensor<?xf64>
  }
  return %end#4, %end#0, %end#1 : tensor<?xf64>, !matrix, !matrix
}

// Learns a block of random 2:4 weights from its outputs.
func.func @planted(%seed: i64 {sparse_autograd.name = "seed"})
    -> (f64 {sparse_autograd.name = "first_loss"}, f64 {sparse_autograd.name = "last_loss"}) {
  %c0 = arith.constant 0 : index
  %tokens = arith.constant 64 : index
  %width = arith.constant 16 : index
  %inner = arith.constant 32 : index
  %refresh = arith.constant 10 : index
  %steps = arith.constant 300 : index
  %last = arith.constant 299 : index
  %zero = arith.constant 0.0 : f64
  %rate = arith.constant 5.0e-2 : f64
  %n0 = arith.constant 0 : i64
  %n1 = arith.constant 1 : i64
  %n2 = arith.constant 2 : i64
  %n3 = arith.constant 3 : i64
  %n4 = arith.constant 4 : i64
  %x = sparse_autograd.random normal %seed, %n0, [%tokens, %width] : !matrix
  %u1 = sparse_autograd.random uniform %seed, %n1, [%inner, %width] : !matrix
  %u2 = sparse_autograd.random uniform %seed, %n2, [%width, %inner] : !matrix
  %w1 = sparse_autograd.random uniform %seed, %n3, [%inner, %width] : !matrix
  %w2 = sparse_autograd.random uniform %seed, %n4, [%width, %inner] : !matrix
  %s1 = sparse_autograd.sparsify_24 %u1 select = greedy gradient = sparse : !matrix -> !packed
  %s2 = sparse_autograd.sparsify_24 %u2 select = greedy gradient = sparse : !matrix -> !packed
  %sums = func.call @product(%x, %s1) : (!matrix, !packed) -> !matrix
  %hidden = linalg.generic {indexing_maps = [#matrix, #matrix],
      iterator_types = ["parallel", "parallel"]}
      ins(%sums : !matrix) outs(%sums : !matrix) {
  ^bb0(%sum: f64, %out: f64):
    %positive = arith.maximumf %sum, %zero : f64
    linalg.yield %positive : f64
  } -> !matrix
  %target = func.call @product(%hidden, %s2) : (!matrix, !packed) -> !matrix
  %losses, %end1, %end2 = func.call @train(%w1, %w2, %x, %target, %rate, %steps, %refresh)
      : (!matrix, !matrix, !matrix, !matrix, f64, index, index)
      -> (tensor<?xf64>, !matrix, !matrix)
  %first_loss = tensor.extract %losses[%c0] : tensor<?xf64>
  %last_loss = tensor.extract %losses[%last] : tensor<?xf64>
  return %first_loss, %last_loss : f64, f64
}
