// The graph network of gcn.mlir, with 2:4 weights in both layers.
//
//   H = relu(N X S1),  logits = N H S2,  S1 = sparsify_24(W1),  S2 = sparsify_24(W2)
//
// The dense weights are trained. Each step selects anew (`greedy`, of which the
// transpose is 2:4 as well) and stores what it selects; the gradient reaches
// what is kept (`gradient = sparse`), so that what is pruned stays as it is until
// the kept weights of its tile fall below it. With `dense_epochs` the selection
// begins later: after all epochs it is the one-shot pruning of a dense network.
// There are 32 hidden units, twice those of gcn.mlir: as many weights are stored.
//
//   sparse-runner examples/gcn_24.mlir --entry=planted --arg seed=0
//   sparse-runner examples/gcn_24.mlir --entry=train --arg seed=0 --arg classes=7 \
//       --arg dense_epochs=0 --arg adjacency=cora.npz:adj --arg features=cora.npz:feat \
//       --arg labels=cora.npz:label --arg train=cora.npz:train --arg test=cora.npz:test

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
#Rows = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#element = affine_map<(i, j) -> (i, j)>
#vector = affine_map<(i) -> (i)>

!matrix = tensor<?x?xf32>
!sparse = tensor<?x?xf32, #CSR>
!packed = tensor<?x?xf32, #Rows>
!column = tensor<?xf32>

// D^-1/2: one over the root of the number of neighbours and the node itself.
func.func private @inverse_roots(%adjacency: !sparse) -> !column {
  %one = arith.constant 1.0 : f32
  %degrees = sparse_autograd.masked_reduce sum %adjacency dims = [1] : !sparse -> !column
  %c0 = arith.constant 0 : index
  %nodes = tensor.dim %adjacency, %c0 : !sparse
  %empty = tensor.empty(%nodes) : !column
  %roots = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%degrees : !column) outs(%empty : !column) {
    ^bb0(%degree: f32, %out: f32):
      %all = arith.addf %degree, %one : f32
      %root = math.rsqrt %all : f32
      linalg.yield %root : f32
  } -> !column
  return %roots : !column
}

// D^-1/2 A D^-1/2, on the pattern of A.
func.func private @normalized(%adjacency: !sparse, %roots: !column) -> !sparse {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %adjacency, %c0 : !sparse
  %columns = tensor.dim %adjacency, %c1 : !sparse
  %empty = tensor.empty(%rows, %columns) : !sparse
  %scaled = linalg.generic {
      indexing_maps = [#element, #row, #column, #element], iterator_types = ["parallel", "parallel"]}
      ins(%adjacency, %roots, %roots : !sparse, !column, !column) outs(%empty : !sparse) {
    ^bb0(%a: f32, %ri: f32, %rj: f32, %out: f32):
      %left = arith.mulf %ri, %a : f32
      %both = arith.mulf %left, %rj : f32
      linalg.yield %both : f32
  } -> !sparse
  return %scaled : !sparse
}

// The rows of the features divided by their sums.
func.func private @rows_to_one(%features: !sparse) -> !sparse {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %features, %c0 : !sparse
  %columns = tensor.dim %features, %c1 : !sparse
  %sums = sparse_autograd.masked_reduce sum %features dims = [1] : !sparse -> !column
  %empty = tensor.empty(%rows, %columns) : !sparse
  %scaled = linalg.generic {
      indexing_maps = [#element, #row, #element], iterator_types = ["parallel", "parallel"]}
      ins(%features, %sums : !sparse, !column) outs(%empty : !sparse) {
    ^bb0(%x: f32, %sum: f32, %out: f32):
      %share = arith.divf %x, %sum : f32
      linalg.yield %share : f32
  } -> !sparse
  return %scaled : !sparse
}

// Half of what is stored is dropped, the other half doubled.
func.func private @drop_stored(%features: !sparse, %seed: i64, %counter: i64) -> !sparse {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %features, %c0 : !sparse
  %columns = tensor.dim %features, %c1 : !sparse
  %kept = sparse_autograd.random bernoulli %seed, %counter, [%rows, %columns] probability = 0.5
      : tensor<?x?xi1>
  %empty = tensor.empty(%rows, %columns) : !sparse
  %dropped = linalg.generic {
      indexing_maps = [#element, #element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%features, %kept : !sparse, tensor<?x?xi1>) outs(%empty : !sparse) {
    ^bb0(%x: f32, %keep: i1, %out: f32):
      %doubled = arith.mulf %x, %two : f32
      %value = arith.select %keep, %doubled, %zero : f32
      linalg.yield %value : f32
  } -> !sparse
  return %dropped : !sparse
}

// N x: x weighted by its own share, plus that of the neighbours.
func.func private @propagate(%normalized: !sparse, %roots: !column, %x: !matrix) -> !matrix {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %nodes = tensor.dim %x, %c0 : !matrix
  %width = tensor.dim %x, %c1 : !matrix
  %empty = tensor.empty(%nodes, %width) : !matrix
  %own = linalg.generic {
      indexing_maps = [#element, #row, #element], iterator_types = ["parallel", "parallel"]}
      ins(%x, %roots : !matrix, !column) outs(%empty : !matrix) {
    ^bb0(%xi: f32, %root: f32, %out: f32):
      %weight = arith.mulf %root, %root : f32
      %share = arith.mulf %weight, %xi : f32
      linalg.yield %share : f32
  } -> !matrix
  %all = linalg.matmul ins(%normalized, %x : !sparse, !matrix) outs(%own : !matrix) -> !matrix
  return %all : !matrix
}

func.func private @zeros(%rows: index, %columns: index) -> !matrix {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%rows, %columns) : !matrix
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : !matrix) -> !matrix
  return %zeros : !matrix
}

// Dropout of the hidden units: `kept` selects those that are multiplied by
// `scale`.
func.func private @units(%layer: !matrix, %kept: tensor<?x?xi1>, %scale: f32) -> !matrix {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %nodes = tensor.dim %layer, %c0 : !matrix
  %hidden = tensor.dim %layer, %c1 : !matrix
  %empty = tensor.empty(%nodes, %hidden) : !matrix
  %units = linalg.generic {
      indexing_maps = [#element, #element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%layer, %kept : !matrix, tensor<?x?xi1>) outs(%empty : !matrix) {
    ^bb0(%x: f32, %keep: i1, %out: f32):
      %relu = arith.maximumf %x, %zero : f32
      %scaled = arith.mulf %relu, %scale : f32
      %value = arith.select %keep, %scaled, %zero : f32
      linalg.yield %value : f32
  } -> !matrix
  return %units : !matrix
}

// The logits of all nodes, with dense weights.
func.func private @dense_logits(%w1: !matrix, %w2: !matrix, %normalized: !sparse, %roots: !column,
    %features: !sparse, %kept: tensor<?x?xi1>, %scale: f32) -> !matrix {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %nodes = tensor.dim %features, %c0 : !sparse
  %hidden = tensor.dim %w1, %c1 : !matrix
  %classes = tensor.dim %w2, %c1 : !matrix
  %zeros1 = func.call @zeros(%nodes, %hidden) : (index, index) -> !matrix
  %xw = linalg.matmul ins(%features, %w1 : !sparse, !matrix) outs(%zeros1 : !matrix) -> !matrix
  %layer1 = func.call @propagate(%normalized, %roots, %xw) : (!sparse, !column, !matrix) -> !matrix
  %units = func.call @units(%layer1, %kept, %scale) : (!matrix, tensor<?x?xi1>, f32) -> !matrix
  %zeros2 = func.call @zeros(%nodes, %classes) : (index, index) -> !matrix
  %hw = linalg.matmul ins(%units, %w2 : !matrix, !matrix) outs(%zeros2 : !matrix) -> !matrix
  %layer2 = func.call @propagate(%normalized, %roots, %hw) : (!sparse, !column, !matrix) -> !matrix
  return %layer2 : !matrix
}

// The logits of all nodes, with 2:4 weights.
func.func private @packed_logits(%w1: !packed, %w2: !packed, %normalized: !sparse, %roots: !column,
    %features: !sparse, %kept: tensor<?x?xi1>, %scale: f32) -> !matrix {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %nodes = tensor.dim %features, %c0 : !sparse
  %hidden = tensor.dim %w1, %c1 : !packed
  %classes = tensor.dim %w2, %c1 : !packed
  %zeros1 = func.call @zeros(%nodes, %hidden) : (index, index) -> !matrix
  %xw = linalg.matmul ins(%features, %w1 : !sparse, !packed) outs(%zeros1 : !matrix) -> !matrix
  %layer1 = func.call @propagate(%normalized, %roots, %xw) : (!sparse, !column, !matrix) -> !matrix
  %units = func.call @units(%layer1, %kept, %scale) : (!matrix, tensor<?x?xi1>, f32) -> !matrix
  %zeros2 = func.call @zeros(%nodes, %classes) : (index, index) -> !matrix
  %hw = linalg.matmul ins(%units, %w2 : !matrix, !packed) outs(%zeros2 : !matrix) -> !matrix
  %layer2 = func.call @propagate(%normalized, %roots, %hw) : (!sparse, !column, !matrix) -> !matrix
  return %layer2 : !matrix
}

// What is kept of both weight matrices, stored.
func.func private @selected(%w1: !matrix, %w2: !matrix) -> (!packed, !packed) {
  %s1 = sparse_autograd.sparsify_24 %w1 select = greedy gradient = sparse : !matrix -> !packed
  %s2 = sparse_autograd.sparsify_24 %w2 select = greedy gradient = sparse : !matrix -> !packed
  return %s1, %s2 : !packed, !packed
}

// The logit of each node's label.
func.func private @of_labels(%x: !matrix, %labels: tensor<?xi32>) -> !column {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %nodes = tensor.dim %x, %c0 : !matrix
  %empty = tensor.empty(%nodes) : !column
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : !column) -> !column
  %picked = linalg.generic {
      indexing_maps = [#element, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %labels : !matrix, tensor<?xi32>) outs(%zeros : !column) {
    ^bb0(%xi: f32, %label: i32, %sum: f32):
      %class = linalg.index 1 : index
      %wanted = arith.index_cast %label : i32 to index
      %is_label = arith.cmpi eq, %class, %wanted : index
      %value = arith.select %is_label, %xi, %zero : f32
      %next = arith.addf %sum, %value : f32
      linalg.yield %next : f32
  } -> !column
  return %picked : !column
}

// The cross entropy of the selected nodes.
func.func private @cross_entropy(%logits: !matrix, %labels: tensor<?xi32>,
    %selected: tensor<?xi1>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %logs = sparse_autograd.masked_log_softmax %logits dims = [1] : !matrix
  %of_labels = func.call @of_labels(%logs, %labels) : (!matrix, tensor<?xi32>) -> !column
  %mean = sparse_autograd.masked_reduce mean %of_labels, %selected dims = [0]
      : !column, tensor<?xi1> -> tensor<f32>
  %log = tensor.extract %mean[] : tensor<f32>
  %loss = arith.subf %zero, %log : f32
  return %loss : f32
}

// 5e-4 of L2 on the first layer, that of what is pruned included.
func.func private @penalty(%w1: !matrix) -> f32 {
  %decay = arith.constant 2.5e-4 : f32
  %squares = arith.mulf %w1, %w1 : !matrix
  %square = sparse_autograd.masked_reduce sum %squares dims = [0, 1] : !matrix -> tensor<f32>
  %norm = tensor.extract %square[] : tensor<f32>
  %penalty = arith.mulf %decay, %norm : f32
  return %penalty : f32
}

func.func private @dense_loss(%w1: !matrix, %w2: !matrix, %normalized: !sparse, %roots: !column,
    %features: !sparse, %kept: tensor<?x?xi1>, %labels: tensor<?xi32>, %selected: tensor<?xi1>) -> f32 {
  %two = arith.constant 2.0 : f32
  %logits = func.call @dense_logits(%w1, %w2, %normalized, %roots, %features, %kept, %two)
      : (!matrix, !matrix, !sparse, !column, !sparse, tensor<?x?xi1>, f32) -> !matrix
  %entropy = func.call @cross_entropy(%logits, %labels, %selected)
      : (!matrix, tensor<?xi32>, tensor<?xi1>) -> f32
  %penalty = func.call @penalty(%w1) : (!matrix) -> f32
  %loss = arith.addf %entropy, %penalty : f32
  return %loss : f32
}

func.func private @packed_loss(%w1: !matrix, %w2: !matrix, %normalized: !sparse, %roots: !column,
    %features: !sparse, %kept: tensor<?x?xi1>, %labels: tensor<?xi32>, %selected: tensor<?xi1>) -> f32 {
  %two = arith.constant 2.0 : f32
  %s1, %s2 = func.call @selected(%w1, %w2) : (!matrix, !matrix) -> (!packed, !packed)
  %logits = func.call @packed_logits(%s1, %s2, %normalized, %roots, %features, %kept, %two)
      : (!packed, !packed, !sparse, !column, !sparse, tensor<?x?xi1>, f32) -> !matrix
  %entropy = func.call @cross_entropy(%logits, %labels, %selected)
      : (!matrix, tensor<?xi32>, tensor<?xi1>) -> f32
  %penalty = func.call @penalty(%w1) : (!matrix) -> f32
  %loss = arith.addf %entropy, %penalty : f32
  return %loss : f32
}

// The share of the selected nodes whose label has the largest logit.
func.func private @accuracy(%logits: !matrix, %labels: tensor<?xi32>, %selected: tensor<?xi1>) -> f32 {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %nodes = tensor.dim %logits, %c0 : !matrix
  %most = sparse_autograd.masked_reduce max %logits dims = [1] : !matrix -> !column
  %own = func.call @of_labels(%logits, %labels) : (!matrix, tensor<?xi32>) -> !column
  %empty = tensor.empty(%nodes) : !column
  %hits = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%most, %own : !column, !column) outs(%empty : !column) {
    ^bb0(%m: f32, %o: f32, %out: f32):
      %is_hit = arith.cmpf oeq, %m, %o : f32
      %hit = arith.select %is_hit, %one, %zero : f32
      linalg.yield %hit : f32
  } -> !column
  %mean = sparse_autograd.masked_reduce mean %hits, %selected dims = [0]
      : !column, tensor<?xi1> -> tensor<f32>
  %value = tensor.extract %mean[] : tensor<f32>
  return %value : f32
}

// A mask of `nodes` nodes from a list.
func.func private @select_nodes(%list: tensor<?xi32>, %nodes: index) -> tensor<?xi1> {
  %false = arith.constant false
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %length = tensor.dim %list, %c0 : tensor<?xi32>
  %empty = tensor.empty(%nodes) : tensor<?xi1>
  %none = linalg.fill ins(%false : i1) outs(%empty : tensor<?xi1>) -> tensor<?xi1>
  %mask = scf.for %i = %c0 to %length step %c1 iter_args(%so_far = %none) -> tensor<?xi1> {
    %number = tensor.extract %list[%i] : tensor<?xi32>
    %node = arith.index_cast %number : i32 to index
    %next = tensor.insert %true into %so_far[%node] : tensor<?xi1>
    scf.yield %next : tensor<?xi1>
  }
  return %mask : tensor<?xi1>
}

// Weights drawn evenly from +-sqrt(6 / (rows + columns)) (Glorot and Bengio, 2010).
func.func private @random_weights(%seed: i64, %counter: i64, %rows: index, %columns: index) -> !matrix {
  %half = arith.constant 0.5 : f32
  %twenty_four = arith.constant 24.0 : f32
  %uniform = sparse_autograd.random uniform %seed, %counter, [%rows, %columns] : !matrix
  %sum = arith.addi %rows, %columns : index
  %integer = arith.index_cast %sum : index to i64
  %fans = arith.sitofp %integer : i64 to f32
  %square = arith.divf %twenty_four, %fans : f32
  %width = math.sqrt %square : f32
  %empty = tensor.empty(%rows, %columns) : !matrix
  %weights = linalg.generic {
      indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%uniform : !matrix) outs(%empty : !matrix) {
    ^bb0(%u: f32, %out: f32):
      %centered = arith.subf %u, %half : f32
      %weight = arith.mulf %width, %centered : f32
      linalg.yield %weight : f32
  } -> !matrix
  return %weights : !matrix
}

// One step of Adam (Kingma and Ba, 2015) at a rate of 0.01.
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

// Trains with 32 hidden units and a dropout of one half, the first `dense_epochs`
// epochs without selection, and returns the accuracy of the 2:4 network on the
// nodes of `test`.
func.func @fit(
    %adjacency: !sparse {sparse_autograd.name = "adjacency"},
    %features: !sparse {sparse_autograd.name = "features"},
    %labels: tensor<?xi32> {sparse_autograd.name = "labels"},
    %train: tensor<?xi32> {sparse_autograd.name = "train"},
    %test: tensor<?xi32> {sparse_autograd.name = "test"},
    %classes: index {sparse_autograd.name = "classes"},
    %epochs: index {sparse_autograd.name = "epochs"},
    %dense_epochs: index {sparse_autograd.name = "dense_epochs"},
    %seed: i64 {sparse_autograd.name = "seed"})
    -> (f32 {sparse_autograd.name = "test_accuracy"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %counter0 = arith.constant 0 : i64
  %counter1 = arith.constant 1 : i64
  %counter2 = arith.constant 2 : i64
  %true = arith.constant true
  %one = arith.constant 1.0 : f32
  %beta1 = arith.constant 0.9 : f32
  %beta2 = arith.constant 0.999 : f32
  %nodes = tensor.dim %features, %c0 : !sparse
  %inputs = tensor.dim %features, %c1 : !sparse
  %trained = func.call @select_nodes(%train, %nodes) : (tensor<?xi32>, index) -> tensor<?xi1>
  %tested = func.call @select_nodes(%test, %nodes) : (tensor<?xi32>, index) -> tensor<?xi1>
  %roots = func.call @inverse_roots(%adjacency) : (!sparse) -> !column
  %normalized = func.call @normalized(%adjacency, %roots) : (!sparse, !column) -> !sparse
  %x = func.call @rows_to_one(%features) : (!sparse) -> !sparse
  %w10 = func.call @random_weights(%seed, %counter0, %inputs, %c32) : (i64, i64, index, index) -> !matrix
  %w20 = func.call @random_weights(%seed, %counter1, %c32, %classes) : (i64, i64, index, index) -> !matrix
  %zeros1 = func.call @zeros(%inputs, %c32) : (index, index) -> !matrix
  %zeros2 = func.call @zeros(%c32, %classes) : (index, index) -> !matrix

  %end:8 = scf.for %epoch = %c0 to %epochs step %c1
      iter_args(%w1 = %w10, %w2 = %w20, %m1 = %zeros1, %m2 = %zeros2, %v1 = %zeros1, %v2 = %zeros2,
                %power1 = %one, %power2 = %one)
      -> (!matrix, !matrix, !matrix, !matrix, !matrix, !matrix, f32, f32) {
    %number = arith.addi %epoch, %c1 : index
    %as_integer = arith.index_cast %number : index to i64
    %counter_x = arith.muli %as_integer, %counter2 : i64
    %counter_h = arith.addi %counter_x, %counter1 : i64
    %dropped = func.call @drop_stored(%x, %seed, %counter_x) : (!sparse, i64, i64) -> !sparse
    %kept = sparse_autograd.random bernoulli %seed, %counter_h, [%nodes, %c32] probability = 0.5
        : tensor<?x?xi1>
    %selects = arith.cmpi uge, %epoch, %dense_epochs : index
    %loss, %g1, %g2 = scf.if %selects -> (f32, !matrix, !matrix) {
      %value, %d1, %d2 = sparse_autograd.value_and_grad
          @packed_loss(%w1, %w2, %normalized, %roots, %dropped, %kept, %labels, %trained) {wrt = [0, 1]}
          : (!matrix, !matrix, !sparse, !column, !sparse, tensor<?x?xi1>, tensor<?xi32>, tensor<?xi1>)
          -> (f32, !matrix, !matrix)
      scf.yield %value, %d1, %d2 : f32, !matrix, !matrix
    } else {
      %value, %d1, %d2 = sparse_autograd.value_and_grad
          @dense_loss(%w1, %w2, %normalized, %roots, %dropped, %kept, %labels, %trained) {wrt = [0, 1]}
          : (!matrix, !matrix, !sparse, !column, !sparse, tensor<?x?xi1>, tensor<?xi32>, tensor<?xi1>)
          -> (f32, !matrix, !matrix)
      scf.yield %value, %d1, %d2 : f32, !matrix, !matrix
    }
    %next_power1 = arith.mulf %power1, %beta1 : f32
    %next_power2 = arith.mulf %power2, %beta2 : f32
    %correction1 = arith.subf %one, %next_power1 : f32
    %correction2 = arith.subf %one, %next_power2 : f32
    %w1n, %m1n, %v1n = func.call @adam(%w1, %g1, %m1, %v1, %correction1, %correction2)
        : (!matrix, !matrix, !matrix, !matrix, f32, f32) -> (!matrix, !matrix, !matrix)
    %w2n, %m2n, %v2n = func.call @adam(%w2, %g2, %m2, %v2, %correction1, %correction2)
        : (!matrix, !matrix, !matrix, !matrix, f32, f32) -> (!matrix, !matrix, !matrix)
    sparse_autograd.log "epoch" %number, "loss" %loss : index, f32
    scf.yield %w1n, %w2n, %m1n, %m2n, %v1n, %v2n, %next_power1, %next_power2
        : !matrix, !matrix, !matrix, !matrix, !matrix, !matrix, f32, f32
  }

  %empty = tensor.empty(%nodes, %c32) : tensor<?x?xi1>
  %all = linalg.fill ins(%true : i1) outs(%empty : tensor<?x?xi1>) -> tensor<?x?xi1>
  %s1, %s2 = func.call @selected(%end#0, %end#1) : (!matrix, !matrix) -> (!packed, !packed)
  %logits = func.call @packed_logits(%s1, %s2, %normalized, %roots, %x, %all, %one)
      : (!packed, !packed, !sparse, !column, !sparse, tensor<?x?xi1>, f32) -> !matrix
  %accuracy = func.call @accuracy(%logits, %labels, %tested)
      : (!matrix, tensor<?xi32>, tensor<?xi1>) -> f32
  return %accuracy : f32
}

// On data from files, for 200 epochs.
func.func @train(
    %adjacency: !sparse {sparse_autograd.name = "adjacency"},
    %features: !sparse {sparse_autograd.name = "features"},
    %labels: tensor<?xi32> {sparse_autograd.name = "labels"},
    %train: tensor<?xi32> {sparse_autograd.name = "train"},
    %test: tensor<?xi32> {sparse_autograd.name = "test"},
    %classes: index {sparse_autograd.name = "classes"},
    %dense_epochs: index {sparse_autograd.name = "dense_epochs"},
    %seed: i64 {sparse_autograd.name = "seed"})
    -> (f32 {sparse_autograd.name = "test_accuracy"}) {
  %epochs = arith.constant 200 : index
  %accuracy = func.call @fit(%adjacency, %features, %labels, %train, %test, %classes, %epochs, %dense_epochs, %seed)
      : (!sparse, !sparse, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, index, index, index, i64) -> f32
  return %accuracy : f32
}

// On a graph of 400 nodes in four communities: neighbours with probability
// 1/20 inside of one, 1/100 between two; features of 32 that are there with
// probability 3/10 in the eight of the own community, 1/10 in others. Every
// tenth node is labelled; the others are the test.
func.func @planted(%seed: i64 {sparse_autograd.name = "seed"})
    -> (f32 {sparse_autograd.name = "test_accuracy"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c10 = arith.constant 10 : index
  %c40 = arith.constant 40 : index
  %c400 = arith.constant 400 : index
  %counter0 = arith.constant 1000001 : i64
  %counter1 = arith.constant 1000002 : i64
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %inside = arith.constant 0.05 : f32
  %between = arith.constant 0.01 : f32
  %own = arith.constant 0.3 : f32
  %other = arith.constant 0.1 : f32
  %epochs = arith.constant 100 : index
  %u = sparse_autograd.random uniform %seed, %counter0 : tensor<400x400xf32>
  %empty_graph = tensor.empty() : tensor<400x400xf32>
  %graph = linalg.generic {
      indexing_maps = [#element, affine_map<(i, j) -> (j, i)>, #element],
      iterator_types = ["parallel", "parallel"]}
      ins(%u, %u : tensor<400x400xf32>, tensor<400x400xf32>) outs(%empty_graph : tensor<400x400xf32>) {
    ^bb0(%uij: f32, %uji: f32, %out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %ci = arith.remui %i, %c4 : index
      %cj = arith.remui %j, %c4 : index
      %is_inside = arith.cmpi eq, %ci, %cj : index
      %is_above = arith.cmpi ult, %i, %j : index
      %is_self = arith.cmpi eq, %i, %j : index
      %limit = arith.select %is_inside, %inside, %between : f32
      %draw = arith.select %is_above, %uij, %uji : f32
      %is_drawn = arith.cmpf olt, %draw, %limit : f32
      %edge = arith.select %is_drawn, %one, %zero : f32
      %value = arith.select %is_self, %zero, %edge : f32
      linalg.yield %value : f32
  } -> tensor<400x400xf32>
  %adjacency = sparse_tensor.convert %graph : tensor<400x400xf32> to tensor<400x400xf32, #CSR>
  %adjacency_cast = tensor.cast %adjacency : tensor<400x400xf32, #CSR> to !sparse

  %f = sparse_autograd.random uniform %seed, %counter1 : tensor<400x32xf32>
  %empty_features = tensor.empty() : tensor<400x32xf32>
  %drawn = linalg.generic {
      indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%f : tensor<400x32xf32>) outs(%empty_features : tensor<400x32xf32>) {
    ^bb0(%fij: f32, %out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %ci = arith.remui %i, %c4 : index
      %cj = arith.divui %j, %c8 : index
      %is_own = arith.cmpi eq, %ci, %cj : index
      %limit = arith.select %is_own, %own, %other : f32
      %is_drawn = arith.cmpf olt, %fij, %limit : f32
      // A constant feature, so that no row is empty.
      %is_first = arith.cmpi eq, %j, %c0 : index
      %is_there = arith.ori %is_drawn, %is_first : i1
      %value = arith.select %is_there, %one, %zero : f32
      linalg.yield %value : f32
  } -> tensor<400x32xf32>
  %features = sparse_tensor.convert %drawn : tensor<400x32xf32> to tensor<400x32xf32, #CSR>
  %features_cast = tensor.cast %features : tensor<400x32xf32, #CSR> to !sparse

  %labels = tensor.generate %c400 {
    ^bb0(%i: index):
      %class = arith.remui %i, %c4 : index
      %label = arith.index_cast %class : index to i32
      tensor.yield %label : i32
  } : tensor<?xi32>
  %train = tensor.generate %c40 {
    ^bb0(%i: index):
      %scaled = arith.muli %i, %c10 : index
      // One of each community in turn.
      %class = arith.remui %i, %c4 : index
      %node = arith.addi %scaled, %class : index
      %number = arith.index_cast %node : index to i32
      tensor.yield %number : i32
  } : tensor<?xi32>
  %c360 = arith.constant 360 : index
  %c9 = arith.constant 9 : index
  %test = tensor.generate %c360 {
    ^bb0(%i: index):
      %ten = arith.divui %i, %c9 : index
      %rest = arith.remui %i, %c9 : index
      %base = arith.muli %ten, %c10 : index
      %class = arith.remui %ten, %c4 : index
      %skips = arith.cmpi uge, %rest, %class : index
      %shifted = arith.addi %rest, %c1 : index
      %place = arith.select %skips, %shifted, %rest : index
      %node = arith.addi %base, %place : index
      %number = arith.index_cast %node : index to i32
      tensor.yield %number : i32
  } : tensor<?xi32>
  %accuracy = func.call @fit(%adjacency_cast, %features_cast, %labels, %train, %test, %c4, %epochs, %c0, %seed)
      : (!sparse, !sparse, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, index, index, index, i64) -> f32
  return %accuracy : f32
}
