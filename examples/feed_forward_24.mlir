// A feed-forward block whose two weight matrices are 2:4 sparse.
//
//   y = relu(x S1^T) S2^T,  S1 = sparsify_24(W1),  S2 = sparsify_24(W2)
//
// The dense weights are trained by SGD: the gradient passes the selection
// straight through (`gradient = ste`), so that what is pruned can come back, and
// what is pruned decays (SR-STE, Zhou et al., Learning N:M fine-grained
// structured sparse neural networks from scratch, 2021): W - S is the pruned part.
//
//   sparse-runner examples/feed_forward_24.mlir --entry=train --arg seed=0
//
// @train fits a block of random weights and prints the loss; @step is one step.

#matrix = affine_map<(i, j) -> (i, j)>

// a b, added to zeros.
func.func private @product(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %rows = tensor.dim %a, %c0 : tensor<?x?xf64>
  %columns = tensor.dim %b, %c1 : tensor<?x?xf64>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %product = linalg.matmul ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>)
      outs(%zeros : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %product : tensor<?x?xf64>
}

func.func private @block(%w1: tensor<?x?xf64>, %w2: tensor<?x?xf64>, %x: tensor<?x?xf64>)
    -> tensor<?x?xf64> {
  %s1, %t1 = sparse_autograd.sparsify_24 %w1 select = greedy gradient = ste
      : tensor<?x?xf64> -> tensor<?x?xf64>, tensor<?x?xf64>
  %s2, %t2 = sparse_autograd.sparsify_24 %w2 select = greedy gradient = ste
      : tensor<?x?xf64> -> tensor<?x?xf64>, tensor<?x?xf64>
  %sums = func.call @product(%x, %t1) : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %rows = tensor.dim %sums, %c0 : tensor<?x?xf64>
  %columns = tensor.dim %sums, %c1 : tensor<?x?xf64>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf64>
  %hidden = linalg.generic {indexing_maps = [#matrix, #matrix],
      iterator_types = ["parallel", "parallel"]}
      ins(%sums : tensor<?x?xf64>) outs(%empty : tensor<?x?xf64>) {
  ^bb0(%sum: f64, %out: f64):
    %positive = arith.maximumf %sum, %zero : f64
    linalg.yield %positive : f64
  } -> tensor<?x?xf64>
  %y = func.call @product(%hidden, %t2) : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}

// The mean squared error.
func.func private @loss(%w1: tensor<?x?xf64>, %w2: tensor<?x?xf64>, %x: tensor<?x?xf64>,
    %target: tensor<?x?xf64>) -> tensor<f64> {
  %y = func.call @block(%w1, %w2, %x)
      : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %error = arith.subf %y, %target : tensor<?x?xf64>
  %square = arith.mulf %error, %error : tensor<?x?xf64>
  %loss = sparse_autograd.masked_reduce mean %square dims = [0, 1]
      : tensor<?x?xf64> -> tensor<f64>
  return %loss : tensor<f64>
}

// w - rate (gradient + decay (w - s)).
func.func private @update(%w: tensor<?x?xf64>, %gradient: tensor<?x?xf64>, %rate: f64,
    %decay: f64) -> tensor<?x?xf64> {
  %s = sparse_autograd.sparsify_24 %w select = greedy gradient = ste
      : tensor<?x?xf64> -> tensor<?x?xf64>
  %next = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix],
      iterator_types = ["parallel", "parallel"]}
      ins(%gradient, %s : tensor<?x?xf64>, tensor<?x?xf64>) outs(%w : tensor<?x?xf64>) {
  ^bb0(%g: f64, %kept: f64, %old: f64):
    %pruned = arith.subf %old, %kept : f64
    %shrink = arith.mulf %decay, %pruned : f64
    %direction = arith.addf %g, %shrink : f64
    %change = arith.mulf %rate, %direction : f64
    %new = arith.subf %old, %change : f64
    linalg.yield %new : f64
  } -> tensor<?x?xf64>
  return %next : tensor<?x?xf64>
}

func.func @step(%w1: tensor<?x?xf64>, %w2: tensor<?x?xf64>, %x: tensor<?x?xf64>,
    %target: tensor<?x?xf64>, %rate: f64, %decay: f64)
    -> (tensor<f64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %loss, %g1, %g2 = sparse_autograd.value_and_grad @loss(%w1, %w2, %x, %target) {wrt = [0, 1]}
      : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
     -> (tensor<f64>, tensor<?x?xf64>, tensor<?x?xf64>)
  %next1 = func.call @update(%w1, %g1, %rate, %decay)
      : (tensor<?x?xf64>, tensor<?x?xf64>, f64, f64) -> tensor<?x?xf64>
  %next2 = func.call @update(%w2, %g2, %rate, %decay)
      : (tensor<?x?xf64>, tensor<?x?xf64>, f64, f64) -> tensor<?x?xf64>
  return %loss, %next1, %next2 : tensor<f64>, tensor<?x?xf64>, tensor<?x?xf64>
}

func.func @train(%seed: i64 {sparse_autograd.name = "seed"}) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 200 : index
  %every = arith.constant 50 : index
  %tokens = arith.constant 64 : index
  %width = arith.constant 16 : index
  %inner = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<f64>
  %rate = arith.constant 2.0e-2 : f64
  %decay = arith.constant 2.0e-4 : f64
  %n0 = arith.constant 0 : i64
  %n1 = arith.constant 1 : i64
  %n2 = arith.constant 2 : i64
  %n3 = arith.constant 3 : i64
  %n4 = arith.constant 4 : i64
  %x = sparse_autograd.random normal %seed, %n0, [%tokens, %width] : tensor<?x?xf64>
  %u1 = sparse_autograd.random uniform %seed, %n1, [%inner, %width] : tensor<?x?xf64>
  %u2 = sparse_autograd.random uniform %seed, %n2, [%width, %inner] : tensor<?x?xf64>
  %target = func.call @block(%u1, %u2, %x)
      : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %w1 = sparse_autograd.random uniform %seed, %n3, [%inner, %width] : tensor<?x?xf64>
  %w2 = sparse_autograd.random uniform %seed, %n4, [%width, %inner] : tensor<?x?xf64>
  %trained:3 = scf.for %i = %c0 to %steps step %c1
      iter_args(%v1 = %w1, %v2 = %w2, %last = %zero)
      -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<f64>) {
    %loss, %next1, %next2 = func.call @step(%v1, %v2, %x, %target, %rate, %decay)
        : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, f64, f64)
       -> (tensor<f64>, tensor<?x?xf64>, tensor<?x?xf64>)
    %position = arith.remui %i, %every : index
    %isLogged = arith.cmpi eq, %position, %c0 : index
    scf.if %isLogged {
      %number = tensor.extract %loss[] : tensor<f64>
      sparse_autograd.log "step" %i, "loss" %number : index, f64
    }
    scf.yield %next1, %next2, %loss : tensor<?x?xf64>, tensor<?x?xf64>, tensor<f64>
  }
  return %trained#2 : tensor<f64>
}
