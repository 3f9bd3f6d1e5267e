// Sparse attention that learns to copy.
//
//   X = tokens E + P,  S = X Wq (X Wk)^T / sqrt(d) on the pattern,
//   logits = softmax(S) X Wv Wo
//
// Each position of a sequence attends to those of its block and of the block
// before, and to the first two; these two attend to all. The scores are the
// sample of a product on this pattern, their softmax is one over what is stored
// in a row, and the product with the values is sparse: no numbers are computed for
// other pairs, forward or backward. Every position is to name the token one block
// before it; the embeddings of tokens and of positions and the four projections
// are learned from a new random sequence in every step. The loss is written
// forward only; value_and_grad makes its gradient.
//
//   sparse-runner examples/sparse_attention.mlir --entry=train --arg seed=0
//
// @score_gradient returns the gradient by the scores, which has their pattern.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
#row = affine_map<(i, j) -> (i)>
#element = affine_map<(i, j) -> (i, j)>
#vector = affine_map<(i) -> (i)>
#queries = affine_map<(i, j, k) -> (i, k)>
#keys = affine_map<(i, j, k) -> (j, k)>
#pairs = affine_map<(i, j, k) -> (i, j)>

!matrix = tensor<?x?xf64>
!sparse = tensor<?x?xf64, #CSR>
!mask = tensor<?x?xi1, #CSR>
!column = tensor<?xf64>

func.func private @zeros(%rows: index, %columns: index) -> !matrix {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty(%rows, %columns) : !matrix
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : !matrix) -> !matrix
  return %zeros : !matrix
}

func.func private @product(%a: !matrix, %b: !matrix) -> !matrix {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %a, %c0 : !matrix
  %columns = tensor.dim %b, %c1 : !matrix
  %zeros = func.call @zeros(%rows, %columns) : (index, index) -> !matrix
  %product = linalg.matmul ins(%a, %b : !matrix, !matrix) outs(%zeros : !matrix) -> !matrix
  return %product : !matrix
}

// The logit of each position's label.
func.func private @of_labels(%x: !matrix, %labels: tensor<?xi32>) -> !column {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %positions = tensor.dim %x, %c0 : !matrix
  %empty = tensor.empty(%positions) : !column
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : !column) -> !column
  %picked = linalg.generic {
      indexing_maps = [#element, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %labels : !matrix, tensor<?xi32>) outs(%zeros : !column) {
    ^bb0(%xi: f64, %label: i32, %sum: f64):
      %class = linalg.index 1 : index
      %wanted = arith.index_cast %label : i32 to index
      %is_label = arith.cmpi eq, %class, %wanted : index
      %value = arith.select %is_label, %xi, %zero : f64
      %next = arith.addf %sum, %value : f64
      linalg.yield %next : f64
  } -> !column
  return %picked : !column
}

// The share of the selected positions whose label has the largest logit.
func.func private @accuracy(%logits: !matrix, %labels: tensor<?xi32>, %selected: tensor<?xi1>) -> f64 {
  %one = arith.constant 1.0 : f64
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %positions = tensor.dim %logits, %c0 : !matrix
  %most = sparse_autograd.masked_reduce max %logits dims = [1] : !matrix -> !column
  %own = func.call @of_labels(%logits, %labels) : (!matrix, tensor<?xi32>) -> !column
  %empty = tensor.empty(%positions) : !column
  %hits = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%most, %own : !column, !column) outs(%empty : !column) {
    ^bb0(%m: f64, %o: f64, %out: f64):
      %is_hit = arith.cmpf oeq, %m, %o : f64
      %hit = arith.select %is_hit, %one, %zero : f64
      linalg.yield %hit : f64
  } -> !column
  %mean = sparse_autograd.masked_reduce mean %hits, %selected dims = [0]
      : !column, tensor<?xi1> -> tensor<f64>
  %value = tensor.extract %mean[] : tensor<f64>
  return %value : f64
}

// Weights drawn evenly from +-sqrt(6 / (rows + columns)) (Glorot and Bengio, 2010).
func.func private @random_weights(%seed: i64, %counter: i64, %rows: index, %columns: index) -> !matrix {
  %half = arith.constant 0.5 : f64
  %twenty_four = arith.constant 24.0 : f64
  %uniform = sparse_autograd.random uniform %seed, %counter, [%rows, %columns] : !matrix
  %sum = arith.addi %rows, %columns : index
  %integer = arith.index_cast %sum : index to i64
  %fans = arith.sitofp %integer : i64 to f64
  %square = arith.divf %twenty_four, %fans : f64
  %width = math.sqrt %square : f64
  %empty = tensor.empty(%rows, %columns) : !matrix
  %weights = linalg.generic {
      indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%uniform : !matrix) outs(%empty : !matrix) {
    ^bb0(%u: f64, %out: f64):
      %centered = arith.subf %u, %half : f64
      %weight = arith.mulf %width, %centered : f64
      linalg.yield %weight : f64
  } -> !matrix
  return %weights : !matrix
}

// One step of Adam (Kingma and Ba, 2015) at a rate of 0.01.
func.func private @adam(%x: !matrix, %g: !matrix, %m: !matrix, %v: !matrix,
    %correction1: f64, %correction2: f64) -> (!matrix, !matrix, !matrix) {
  %beta1 = arith.constant 0.9 : f64
  %beta2 = arith.constant 0.999 : f64
  %rest1 = arith.constant 0.1 : f64
  %rest2 = arith.constant 0.001 : f64
  %rate = arith.constant 0.01 : f64
  %epsilon = arith.constant 1.0e-8 : f64
  %new:3 = linalg.generic {
      indexing_maps = [#element, #element, #element, #element],
      iterator_types = ["parallel", "parallel"]}
      ins(%g : !matrix) outs(%x, %m, %v : !matrix, !matrix, !matrix) {
    ^bb0(%gi: f64, %xi: f64, %mi: f64, %vi: f64):
      %m1 = arith.mulf %beta1, %mi : f64
      %m2 = arith.mulf %rest1, %gi : f64
      %m_new = arith.addf %m1, %m2 : f64
      %g2 = arith.mulf %gi, %gi : f64
      %v1 = arith.mulf %beta2, %vi : f64
      %v2 = arith.mulf %rest2, %g2 : f64
      %v_new = arith.addf %v1, %v2 : f64
      %m_hat = arith.divf %m_new, %correction1 : f64
      %v_hat = arith.divf %v_new, %correction2 : f64
      %root = math.sqrt %v_hat : f64
      %denominator = arith.addf %root, %epsilon : f64
      %direction = arith.divf %m_hat, %denominator : f64
      %step = arith.mulf %rate, %direction : f64
      %x_new = arith.subf %xi, %step : f64
      linalg.yield %x_new, %m_new, %v_new : f64, f64, f64
  } -> (!matrix, !matrix, !matrix)
  return %new#0, %new#1, %new#2 : !matrix, !matrix, !matrix
}

// Q K^T / sqrt(d), on the pattern.
func.func private @scores(%q: !matrix, %k: !matrix, %pattern: !mask) -> !sparse {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %positions = tensor.dim %q, %c0 : !matrix
  %width = tensor.dim %q, %c1 : !matrix
  %integer = arith.index_cast %width : index to i64
  %d = arith.sitofp %integer : i64 to f64
  %scale = math.rsqrt %d : f64
  %zeros = func.call @zeros(%positions, %positions) : (index, index) -> !matrix
  %products = linalg.generic {
      indexing_maps = [#queries, #keys, #pairs], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : !matrix, !matrix) outs(%zeros : !matrix) {
    ^bb0(%qi: f64, %kj: f64, %sum: f64):
      %product = arith.mulf %qi, %kj : f64
      %next = arith.addf %sum, %product : f64
      linalg.yield %next : f64
  } -> !matrix
  %sampled = sparse_autograd.sample %products, %pattern : !matrix, !mask -> !sparse
  %empty = tensor.empty(%positions, %positions) : !sparse
  %scores = linalg.generic {
      indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%sampled : !sparse) outs(%empty : !sparse) {
    ^bb0(%s: f64, %out: f64):
      %scaled = arith.mulf %scale, %s : f64
      linalg.yield %scaled : f64
  } -> !sparse
  return %scores : !sparse
}

// The logits of the tokens, from scores, values and the output projection.
func.func private @attend(%scores: !sparse, %values: !matrix, %output: !matrix) -> !matrix {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %stored = sparse_autograd.pattern %scores : !sparse
  %weights = sparse_autograd.masked_softmax %scores, %stored dims = [1] : !sparse, !mask
  %positions = tensor.dim %scores, %c0 : !sparse
  %width = tensor.dim %values, %c1 : !matrix
  %zeros = func.call @zeros(%positions, %width) : (index, index) -> !matrix
  %mixed = linalg.matmul ins(%weights, %values : !sparse, !matrix) outs(%zeros : !matrix) -> !matrix
  %logits = func.call @product(%mixed, %output) : (!matrix, !matrix) -> !matrix
  return %logits : !matrix
}

// The mean cross entropy of the selected positions.
func.func private @cross_entropy(%logits: !matrix, %labels: tensor<?xi32>, %selected: tensor<?xi1>) -> f64 {
  %logs = sparse_autograd.masked_log_softmax %logits dims = [1] : !matrix
  %of_labels = func.call @of_labels(%logs, %labels) : (!matrix, tensor<?xi32>) -> !column
  %mean = sparse_autograd.masked_reduce mean %of_labels, %selected dims = [0]
      : !column, tensor<?xi1> -> tensor<f64>
  %log = tensor.extract %mean[] : tensor<f64>
  %loss = arith.negf %log : f64
  return %loss : f64
}

// The logits of a sequence, a row of `tokens` for each position with a one in it.
func.func private @logits(%token_embedding: !matrix, %position_embedding: !matrix,
    %query: !matrix, %key: !matrix, %value: !matrix, %output: !matrix,
    %tokens: !matrix, %pattern: !mask) -> !matrix {
  %x = linalg.matmul ins(%tokens, %token_embedding : !matrix, !matrix)
      outs(%position_embedding : !matrix) -> !matrix
  %q = func.call @product(%x, %query) : (!matrix, !matrix) -> !matrix
  %k = func.call @product(%x, %key) : (!matrix, !matrix) -> !matrix
  %v = func.call @product(%x, %value) : (!matrix, !matrix) -> !matrix
  %scores = func.call @scores(%q, %k, %pattern) : (!matrix, !matrix, !mask) -> !sparse
  %logits = func.call @attend(%scores, %v, %output) : (!sparse, !matrix, !matrix) -> !matrix
  return %logits : !matrix
}

func.func private @loss(%token_embedding: !matrix, %position_embedding: !matrix,
    %query: !matrix, %key: !matrix, %value: !matrix, %output: !matrix,
    %tokens: !matrix, %pattern: !mask, %labels: tensor<?xi32>, %selected: tensor<?xi1>) -> f64 {
  %logits = func.call @logits(%token_embedding, %position_embedding, %query, %key, %value, %output,
      %tokens, %pattern)
      : (!matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !mask) -> !matrix
  %loss = func.call @cross_entropy(%logits, %labels, %selected)
      : (!matrix, tensor<?xi32>, tensor<?xi1>) -> f64
  return %loss : f64
}

func.func private @loss_of_scores(%scores: !sparse, %values: !matrix, %output: !matrix,
    %labels: tensor<?xi32>, %selected: tensor<?xi1>) -> f64 {
  %logits = func.call @attend(%scores, %values, %output) : (!sparse, !matrix, !matrix) -> !matrix
  %loss = func.call @cross_entropy(%logits, %labels, %selected)
      : (!matrix, tensor<?xi32>, tensor<?xi1>) -> f64
  return %loss : f64
}

// The gradient of the loss by the scores: it stores what they store.
func.func @score_gradient(
    %scores: !sparse {sparse_autograd.name = "scores"},
    %values: !matrix {sparse_autograd.name = "values"},
    %output: !matrix {sparse_autograd.name = "output"},
    %labels: tensor<?xi32> {sparse_autograd.name = "labels"},
    %selected: tensor<?xi1> {sparse_autograd.name = "selected"})
    -> (f64 {sparse_autograd.name = "loss"}, !sparse {sparse_autograd.name = "gradient"}) {
  %loss, %gradient = sparse_autograd.value_and_grad
      @loss_of_scores(%scores, %values, %output, %labels, %selected) {wrt = [0]}
      : (!sparse, !matrix, !matrix, tensor<?xi32>, tensor<?xi1>) -> (f64, !sparse)
  return %loss, %gradient : f64, !sparse
}

// Which positions attend to which.
func.func private @pattern(%positions: index, %block: index) -> !mask {
  %c1 = arith.constant 1 : index
  %global = arith.constant 2 : index
  %all = tensor.generate %positions, %positions {
    ^bb0(%i: index, %j: index):
      %bi = arith.divui %i, %block : index
      %bj = arith.divui %j, %block : index
      %after = arith.addi %bj, %c1 : index
      %is_same = arith.cmpi eq, %bi, %bj : index
      %is_before = arith.cmpi eq, %bi, %after : index
      %is_local = arith.ori %is_same, %is_before : i1
      %is_source = arith.cmpi ult, %j, %global : index
      %is_reader = arith.cmpi ult, %i, %global : index
      %is_global = arith.ori %is_source, %is_reader : i1
      %attends = arith.ori %is_local, %is_global : i1
      tensor.yield %attends : i1
  } : tensor<?x?xi1>
  %pattern = sparse_tensor.convert %all : tensor<?x?xi1> to !mask
  return %pattern : !mask
}

// A random sequence: the token of each position, and a row with a one for it.
func.func private @sequence(%seed: i64, %counter: i64, %positions: index, %vocabulary: index)
    -> (tensor<?xi32>, !matrix) {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %integer = arith.index_cast %vocabulary : index to i64
  %number = arith.sitofp %integer : i64 to f64
  %uniform = sparse_autograd.random uniform %seed, %counter, [%positions] : !column
  %empty = tensor.empty(%positions) : tensor<?xi32>
  %tokens = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%uniform : !column) outs(%empty : tensor<?xi32>) {
    ^bb0(%u: f64, %out: i32):
      %scaled = arith.mulf %u, %number : f64
      %token = arith.fptosi %scaled : f64 to i32
      linalg.yield %token : i32
  } -> tensor<?xi32>
  %empty_rows = tensor.empty(%positions, %vocabulary) : !matrix
  %rows = linalg.generic {
      indexing_maps = [#row, #element], iterator_types = ["parallel", "parallel"]}
      ins(%tokens : tensor<?xi32>) outs(%empty_rows : !matrix) {
    ^bb0(%token: i32, %out: f64):
      %j = linalg.index 1 : index
      %wanted = arith.index_cast %token : i32 to index
      %is_token = arith.cmpi eq, %j, %wanted : index
      %value = arith.select %is_token, %one, %zero : f64
      linalg.yield %value : f64
  } -> !matrix
  return %tokens, %rows : tensor<?xi32>, !matrix
}

// The tokens one block before, and which positions have one.
func.func private @block_before(%tokens: tensor<?xi32>, %block: index) -> (tensor<?xi32>, tensor<?xi1>) {
  %c0 = arith.constant 0 : index
  %positions = tensor.dim %tokens, %c0 : tensor<?xi32>
  %labels = tensor.generate %positions {
    ^bb0(%i: index):
      %is_late = arith.cmpi uge, %i, %block : index
      %before = arith.subi %i, %block : index
      %place = arith.select %is_late, %before, %i : index
      %token = tensor.extract %tokens[%place] : tensor<?xi32>
      tensor.yield %token : i32
  } : tensor<?xi32>
  %selected = tensor.generate %positions {
    ^bb0(%i: index):
      %is_late = arith.cmpi uge, %i, %block : index
      tensor.yield %is_late : i1
  } : tensor<?xi1>
  return %labels, %selected : tensor<?xi32>, tensor<?xi1>
}

// What is to be copied where, and the sequence.
func.func private @example(%seed: i64, %counter: i64, %positions: index, %vocabulary: index, %block: index)
    -> (tensor<?xi32>, tensor<?xi1>, !matrix) {
  %tokens, %rows = func.call @sequence(%seed, %counter, %positions, %vocabulary)
      : (i64, i64, index, index) -> (tensor<?xi32>, !matrix)
  %labels, %selected = func.call @block_before(%tokens, %block)
      : (tensor<?xi32>, index) -> (tensor<?xi32>, tensor<?xi1>)
  return %labels, %selected, %rows : tensor<?xi32>, tensor<?xi1>, !matrix
}

// Trains on sequences of tokens out of 8, in blocks of 8, with embeddings of 32,
// and returns the loss and the accuracy on a sequence that it has not seen.
func.func @fit(%seed: i64 {sparse_autograd.name = "seed"},
               %positions: index {sparse_autograd.name = "positions"},
               %steps: index {sparse_autograd.name = "steps"})
    -> (f64 {sparse_autograd.name = "test_loss"}, f64 {sparse_autograd.name = "test_accuracy"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %block = arith.constant 8 : index
  %vocabulary = arith.constant 8 : index
  %width = arith.constant 32 : index
  %one = arith.constant 1.0 : f64
  %beta1 = arith.constant 0.9 : f64
  %beta2 = arith.constant 0.999 : f64
  %pattern = func.call @pattern(%positions, %block) : (index, index) -> !mask
  %counter0 = arith.constant 1000000 : i64
  %w00 = func.call @random_weights(%seed, %counter0, %vocabulary, %width) : (i64, i64, index, index) -> !matrix
  %z0 = func.call @zeros(%vocabulary, %width) : (index, index) -> !matrix
  %counter1 = arith.constant 1000001 : i64
  %w10 = func.call @random_weights(%seed, %counter1, %positions, %width) : (i64, i64, index, index) -> !matrix
  %z1 = func.call @zeros(%positions, %width) : (index, index) -> !matrix
  %counter2 = arith.constant 1000002 : i64
  %w20 = func.call @random_weights(%seed, %counter2, %width, %width) : (i64, i64, index, index) -> !matrix
  %z2 = func.call @zeros(%width, %width) : (index, index) -> !matrix
  %counter3 = arith.constant 1000003 : i64
  %w30 = func.call @random_weights(%seed, %counter3, %width, %width) : (i64, i64, index, index) -> !matrix
  %z3 = func.call @zeros(%width, %width) : (index, index) -> !matrix
  %counter4 = arith.constant 1000004 : i64
  %w40 = func.call @random_weights(%seed, %counter4, %width, %width) : (i64, i64, index, index) -> !matrix
  %z4 = func.call @zeros(%width, %width) : (index, index) -> !matrix
  %counter5 = arith.constant 1000005 : i64
  %w50 = func.call @random_weights(%seed, %counter5, %width, %vocabulary) : (i64, i64, index, index) -> !matrix
  %z5 = func.call @zeros(%width, %vocabulary) : (index, index) -> !matrix

  %end:20 = scf.for %step = %c0 to %steps step %c1
      iter_args(%w0 = %w00, %w1 = %w10, %w2 = %w20, %w3 = %w30, %w4 = %w40, %w5 = %w50,
                %m0 = %z0, %m1 = %z1, %m2 = %z2, %m3 = %z3, %m4 = %z4, %m5 = %z5,
                %v0 = %z0, %v1 = %z1, %v2 = %z2, %v3 = %z3, %v4 = %z4, %v5 = %z5,
                %power1 = %one, %power2 = %one)
      -> (!matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix,
          !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, f64, f64) {
    %number = arith.addi %step, %c1 : index
    %counter = arith.index_cast %step : index to i64
    %labels, %selected, %rows = func.call @example(%seed, %counter, %positions, %vocabulary, %block)
        : (i64, i64, index, index, index) -> (tensor<?xi32>, tensor<?xi1>, !matrix)
    %loss, %g0, %g1, %g2, %g3, %g4, %g5 = sparse_autograd.value_and_grad
        @loss(%w0, %w1, %w2, %w3, %w4, %w5, %rows, %pattern, %labels, %selected) {wrt = [0, 1, 2, 3, 4, 5]}
        : (!matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !mask,
           tensor<?xi32>, tensor<?xi1>)
        -> (f64, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix)
    %next_power1 = arith.mulf %power1, %beta1 : f64
    %next_power2 = arith.mulf %power2, %beta2 : f64
    %correction1 = arith.subf %one, %next_power1 : f64
    %correction2 = arith.subf %one, %next_power2 : f64
    %w0n, %m0n, %v0n = func.call @adam(%w0, %g0, %m0, %v0, %correction1, %correction2)
        : (!matrix, !matrix, !matrix, !matrix, f64, f64) -> (!matrix, !matrix, !matrix)
    %w1n, %m1n, %v1n = func.call @adam(%w1, %g1, %m1, %v1, %correction1, %correction2)
        : (!matrix, !matrix, !matrix, !matrix, f64, f64) -> (!matrix, !matrix, !matrix)
    %w2n, %m2n, %v2n = func.call @adam(%w2, %g2, %m2, %v2, %correction1, %correction2)
        : (!matrix, !matrix, !matrix, !matrix, f64, f64) -> (!matrix, !matrix, !matrix)
    %w3n, %m3n, %v3n = func.call @adam(%w3, %g3, %m3, %v3, %correction1, %correction2)
        : (!matrix, !matrix, !matrix, !matrix, f64, f64) -> (!matrix, !matrix, !matrix)
    %w4n, %m4n, %v4n = func.call @adam(%w4, %g4, %m4, %v4, %correction1, %correction2)
        : (!matrix, !matrix, !matrix, !matrix, f64, f64) -> (!matrix, !matrix, !matrix)
    %w5n, %m5n, %v5n = func.call @adam(%w5, %g5, %m5, %v5, %correction1, %correction2)
        : (!matrix, !matrix, !matrix, !matrix, f64, f64) -> (!matrix, !matrix, !matrix)
    sparse_autograd.log "step" %number, "loss" %loss : index, f64
    scf.yield %w0n, %w1n, %w2n, %w3n, %w4n, %w5n, %m0n, %m1n, %m2n, %m3n, %m4n, %m5n, %v0n, %v1n, %v2n, %v3n, %v4n, %v5n,
        %next_power1, %next_power2
        : !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix,
          !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, f64, f64
  }
  %last = arith.constant 2000000 : i64
  %labels, %selected, %rows = func.call @example(%seed, %last, %positions, %vocabulary, %block)
      : (i64, i64, index, index, index) -> (tensor<?xi32>, tensor<?xi1>, !matrix)
  %logits = func.call @logits(%end#0, %end#1, %end#2, %end#3, %end#4, %end#5, %rows, %pattern)
      : (!matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, !mask) -> !matrix
  %loss = func.call @cross_entropy(%logits, %labels, %selected)
      : (!matrix, tensor<?xi32>, tensor<?xi1>) -> f64
  %accuracy = func.call @accuracy(%logits, %labels, %selected)
      : (!matrix, tensor<?xi32>, tensor<?xi1>) -> f64
  return %loss, %accuracy : f64, f64
}

// 300 steps on sequences of 64 tokens.
func.func @train(%seed: i64 {sparse_autograd.name = "seed"})
    -> (f64 {sparse_autograd.name = "test_loss"}, f64 {sparse_autograd.name = "test_accuracy"}) {
  %positions = arith.constant 64 : index
  %steps = arith.constant 300 : index
  %loss, %accuracy = func.call @fit(%seed, %positions, %steps) : (i64, index, index) -> (f64, f64)
  return %loss, %accuracy : f64, f64
}
