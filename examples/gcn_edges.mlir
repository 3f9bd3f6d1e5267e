// A graph network of two layers with learned edge weights.
//
//   H = relu(P X W1),  logits = P H W2,  P = D^-1 A o E
//
// The graph A is directed and sparse, its rows are divided by their sums D, and E
// are the weights of its edges, ones at first, which are trained with W1 and W2:
// a sparse parameter, whose gradient and moments have the pattern of the graph.
// The loss, a cross entropy over the training nodes, is written forward only;
// value_and_grad makes its gradient.
//
//   sparse-runner examples/gcn_edges.mlir --entry=planted --arg seed=0
//
// @fit trains from given initial values and returns the loss of every epoch.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
#row = affine_map<(i, j) -> (i)>
#element = affine_map<(i, j) -> (i, j)>
#vector = affine_map<(i) -> (i)>

!matrix = tensor<?x?xf64>
!sparse = tensor<?x?xf64, #CSR>
!column = tensor<?xf64>

// The rows of the adjacency divided by their sums.
func.func private @rows_to_one(%adjacency: !sparse) -> !sparse {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %adjacency, %c0 : !sparse
  %columns = tensor.dim %adjacency, %c1 : !sparse
  %sums = sparse_autograd.masked_reduce sum %adjacency dims = [1] : !sparse -> !column
  %empty = tensor.empty(%rows, %columns) : !sparse
  %scaled = linalg.generic {
      indexing_maps = [#element, #row, #element], iterator_types = ["parallel", "parallel"]}
      ins(%adjacency, %sums : !sparse, !column) outs(%empty : !sparse) {
    ^bb0(%x: f64, %sum: f64, %out: f64):
      %share = arith.divf %x, %sum : f64
      linalg.yield %share : f64
  } -> !sparse
  return %scaled : !sparse
}

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

// P x.
func.func private @propagate(%p: !sparse, %x: !matrix) -> !matrix {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %p, %c0 : !sparse
  %columns = tensor.dim %x, %c1 : !matrix
  %zeros = func.call @zeros(%rows, %columns) : (index, index) -> !matrix
  %product = linalg.matmul ins(%p, %x : !sparse, !matrix) outs(%zeros : !matrix) -> !matrix
  return %product : !matrix
}

// The logits of all nodes.
func.func private @logits(%w1: !matrix, %w2: !matrix, %edges: !sparse, %graph: !sparse, %features: !matrix)
    -> !matrix {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %nodes = tensor.dim %features, %c0 : !matrix
  %hidden = tensor.dim %w1, %c1 : !matrix
  %p = arith.mulf %graph, %edges : !sparse
  %xw = func.call @product(%features, %w1) : (!matrix, !matrix) -> !matrix
  %layer1 = func.call @propagate(%p, %xw) : (!sparse, !matrix) -> !matrix
  %empty = tensor.empty(%nodes, %hidden) : !matrix
  %units = linalg.generic {
      indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%layer1 : !matrix) outs(%empty : !matrix) {
    ^bb0(%x: f64, %out: f64):
      %relu = arith.maximumf %x, %zero : f64
      linalg.yield %relu : f64
  } -> !matrix
  %hw = func.call @product(%units, %w2) : (!matrix, !matrix) -> !matrix
  %layer2 = func.call @propagate(%p, %hw) : (!sparse, !matrix) -> !matrix
  return %layer2 : !matrix
}

// The logit of each node's label.
func.func private @of_labels(%x: !matrix, %labels: tensor<?xi32>) -> !column {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %nodes = tensor.dim %x, %c0 : !matrix
  %empty = tensor.empty(%nodes) : !column
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

// The cross entropy of the selected nodes.
func.func private @loss(%w1: !matrix, %w2: !matrix, %edges: !sparse, %graph: !sparse, %features: !matrix,
    %labels: tensor<?xi32>, %selected: tensor<?xi1>) -> f64 {
  %logits = func.call @logits(%w1, %w2, %edges, %graph, %features)
      : (!matrix, !matrix, !sparse, !sparse, !matrix) -> !matrix
  %logs = sparse_autograd.masked_log_softmax %logits dims = [1] : !matrix
  %of_labels = func.call @of_labels(%logs, %labels) : (!matrix, tensor<?xi32>) -> !column
  %mean = sparse_autograd.masked_reduce mean %of_labels, %selected dims = [0]
      : !column, tensor<?xi1> -> tensor<f64>
  %log = tensor.extract %mean[] : tensor<f64>
  %loss = arith.negf %log : f64
  return %loss : f64
}

// The share of the selected nodes whose label has the largest logit.
func.func private @accuracy(%logits: !matrix, %labels: tensor<?xi32>, %selected: tensor<?xi1>) -> f64 {
  %one = arith.constant 1.0 : f64
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %nodes = tensor.dim %logits, %c0 : !matrix
  %most = sparse_autograd.masked_reduce max %logits dims = [1] : !matrix -> !column
  %own = func.call @of_labels(%logits, %labels) : (!matrix, tensor<?xi32>) -> !column
  %empty = tensor.empty(%nodes) : !column
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

// The same for the weights of the edges, on their pattern.
func.func private @adam_edges(%x: !sparse, %g: !sparse, %m: !sparse, %v: !sparse,
    %correction1: f64, %correction2: f64) -> (!sparse, !sparse, !sparse) {
  %beta1 = arith.constant 0.9 : f64
  %beta2 = arith.constant 0.999 : f64
  %rest1 = arith.constant 0.1 : f64
  %rest2 = arith.constant 0.001 : f64
  %rate = arith.constant 0.01 : f64
  %epsilon = arith.constant 1.0e-8 : f64
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : !sparse
  %columns = tensor.dim %x, %c1 : !sparse
  %empty = tensor.empty(%rows, %columns) : !sparse
  %stored = sparse_autograd.pattern %x : !sparse
  %m_new = linalg.generic {
      indexing_maps = [#element, #element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%g, %m : !sparse, !sparse) outs(%empty : !sparse) {
    ^bb0(%gi: f64, %mi: f64, %out: f64):
      %m1 = arith.mulf %beta1, %mi : f64
      %m2 = arith.mulf %rest1, %gi : f64
      %next = arith.addf %m1, %m2 : f64
      linalg.yield %next : f64
  } -> !sparse
  %v_new = linalg.generic {
      indexing_maps = [#element, #element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%g, %v : !sparse, !sparse) outs(%empty : !sparse) {
    ^bb0(%gi: f64, %vi: f64, %out: f64):
      %g2 = arith.mulf %gi, %gi : f64
      %v1 = arith.mulf %beta2, %vi : f64
      %v2 = arith.mulf %rest2, %g2 : f64
      %next = arith.addf %v1, %v2 : f64
      linalg.yield %next : f64
  } -> !sparse
  %x_new = linalg.generic {
      indexing_maps = [#element, #element, #element, #element, #element],
      iterator_types = ["parallel", "parallel"]}
      ins(%stored, %x, %m_new, %v_new : tensor<?x?xi1, #CSR>, !sparse, !sparse, !sparse)
      outs(%empty : !sparse) {
    ^bb0(%is_stored: i1, %xi: f64, %mi: f64, %vi: f64, %out: f64):
      %m_hat = arith.divf %mi, %correction1 : f64
      %v_hat = arith.divf %vi, %correction2 : f64
      %root = math.sqrt %v_hat : f64
      %denominator = arith.addf %root, %epsilon : f64
      %direction = arith.divf %m_hat, %denominator : f64
      %step = arith.mulf %rate, %direction : f64
      %next = arith.subf %xi, %step : f64
      %value = arith.select %is_stored, %next, %zero : f64
      linalg.yield %value : f64
  } -> !sparse
  return %x_new, %m_new, %v_new : !sparse, !sparse, !sparse
}

// Trains from w1, w2 and edges; returns the loss of every epoch, before its step,
// the accuracy on the nodes of `test` and the weights of the edges at the end.
func.func @fit(
    %adjacency: !sparse {sparse_autograd.name = "adjacency"},
    %features: !matrix {sparse_autograd.name = "features"},
    %labels: tensor<?xi32> {sparse_autograd.name = "labels"},
    %train: tensor<?xi32> {sparse_autograd.name = "train"},
    %test: tensor<?xi32> {sparse_autograd.name = "test"},
    %w10: !matrix {sparse_autograd.name = "w1"},
    %w20: !matrix {sparse_autograd.name = "w2"},
    %edges0: !sparse {sparse_autograd.name = "edges"},
    %epochs: index {sparse_autograd.name = "epochs"})
    -> (!column {sparse_autograd.name = "losses"}, f64 {sparse_autograd.name = "test_accuracy"},
        !sparse {sparse_autograd.name = "learned_edges"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %beta1 = arith.constant 0.9 : f64
  %beta2 = arith.constant 0.999 : f64
  %nodes = tensor.dim %features, %c0 : !matrix
  %inputs = tensor.dim %w10, %c0 : !matrix
  %hidden = tensor.dim %w20, %c0 : !matrix
  %classes = tensor.dim %w20, %c1 : !matrix
  %trained = func.call @select_nodes(%train, %nodes) : (tensor<?xi32>, index) -> tensor<?xi1>
  %tested = func.call @select_nodes(%test, %nodes) : (tensor<?xi32>, index) -> tensor<?xi1>
  %graph = func.call @rows_to_one(%adjacency) : (!sparse) -> !sparse
  %zeros1 = func.call @zeros(%inputs, %hidden) : (index, index) -> !matrix
  %zeros2 = func.call @zeros(%hidden, %classes) : (index, index) -> !matrix
  %zerosE = sparse_autograd.zeros %edges0 : !sparse -> !sparse
  %no_losses = tensor.empty(%epochs) : !column

  %end:12 = scf.for %epoch = %c0 to %epochs step %c1
      iter_args(%losses = %no_losses, %w1 = %w10, %w2 = %w20, %edges = %edges0,
                %m1 = %zeros1, %m2 = %zeros2, %mE = %zerosE,
                %v1 = %zeros1, %v2 = %zeros2, %vE = %zerosE, %power1 = %one, %power2 = %one)
      -> (!column, !matrix, !matrix, !sparse, !matrix, !matrix, !sparse, !matrix, !matrix, !sparse, f64, f64) {
    %loss, %g1, %g2, %gE = sparse_autograd.value_and_grad
        @loss(%w1, %w2, %edges, %graph, %features, %labels, %trained) {wrt = [0, 1, 2]}
        : (!matrix, !matrix, !sparse, !sparse, !matrix, tensor<?xi32>, tensor<?xi1>)
        -> (f64, !matrix, !matrix, !sparse)
    %next_losses = tensor.insert %loss into %losses[%epoch] : !column
    %next_power1 = arith.mulf %power1, %beta1 : f64
    %next_power2 = arith.mulf %power2, %beta2 : f64
    %correction1 = arith.subf %one, %next_power1 : f64
    %correction2 = arith.subf %one, %next_power2 : f64
    %w1n, %m1n, %v1n = func.call @adam(%w1, %g1, %m1, %v1, %correction1, %correction2)
        : (!matrix, !matrix, !matrix, !matrix, f64, f64) -> (!matrix, !matrix, !matrix)
    %w2n, %m2n, %v2n = func.call @adam(%w2, %g2, %m2, %v2, %correction1, %correction2)
        : (!matrix, !matrix, !matrix, !matrix, f64, f64) -> (!matrix, !matrix, !matrix)
    %edgesn, %mEn, %vEn = func.call @adam_edges(%edges, %gE, %mE, %vE, %correction1, %correction2)
        : (!sparse, !sparse, !sparse, !sparse, f64, f64) -> (!sparse, !sparse, !sparse)
    %number = arith.addi %epoch, %c1 : index
    sparse_autograd.log "epoch" %number, "loss" %loss : index, f64
    scf.yield %next_losses, %w1n, %w2n, %edgesn, %m1n, %m2n, %mEn, %v1n, %v2n, %vEn, %next_power1, %next_power2
        : !column, !matrix, !matrix, !sparse, !matrix, !matrix, !sparse, !matrix, !matrix, !sparse, f64, f64
  }
  %logits = func.call @logits(%end#1, %end#2, %end#3, %graph, %features)
      : (!matrix, !matrix, !sparse, !sparse, !matrix) -> !matrix
  %accuracy = func.call @accuracy(%logits, %labels, %tested)
      : (!matrix, tensor<?xi32>, tensor<?xi1>) -> f64
  return %end#0, %accuracy, %end#3 : !column, f64, !sparse
}

// On a graph of 240 nodes in three communities: an edge from i to j with
// probability 1/10 where j is of the community of i, 1/50 where it is not, and one
// from each node to itself. The feature of a community is 1 more in the mean.
// Every eighth node is labelled; the others are the test.
func.func @planted(%seed: i64 {sparse_autograd.name = "seed"})
    -> (!column {sparse_autograd.name = "losses"}, f64 {sparse_autograd.name = "test_accuracy"}) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c30 = arith.constant 30 : index
  %c210 = arith.constant 210 : index
  %c240 = arith.constant 240 : index
  %counter0 = arith.constant 0 : i64
  %counter1 = arith.constant 1 : i64
  %counter2 = arith.constant 2 : i64
  %counter3 = arith.constant 3 : i64
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %inside = arith.constant 0.1 : f64
  %between = arith.constant 0.02 : f64
  %signal = arith.constant 1.0 : f64
  %hidden = arith.constant 16 : index
  %inputs = arith.constant 6 : index
  %epochs = arith.constant 100 : index
  %u = sparse_autograd.random uniform %seed, %counter0, [%c240, %c240] : !matrix
  %empty_graph = tensor.empty(%c240, %c240) : !matrix
  %graph = linalg.generic {
      indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%u : !matrix) outs(%empty_graph : !matrix) {
    ^bb0(%draw: f64, %out: f64):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %ci = arith.remui %i, %c3 : index
      %cj = arith.remui %j, %c3 : index
      %is_inside = arith.cmpi eq, %ci, %cj : index
      %is_self = arith.cmpi eq, %i, %j : index
      %limit = arith.select %is_inside, %inside, %between : f64
      %is_drawn = arith.cmpf olt, %draw, %limit : f64
      %is_edge = arith.ori %is_drawn, %is_self : i1
      %edge = arith.select %is_edge, %one, %zero : f64
      linalg.yield %edge : f64
  } -> !matrix
  %adjacency = sparse_tensor.convert %graph : !matrix to !sparse
  %noise = sparse_autograd.random normal %seed, %counter1, [%c240, %inputs] : !matrix
  %empty_features = tensor.empty(%c240, %inputs) : !matrix
  %features = linalg.generic {
      indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%noise : !matrix) outs(%empty_features : !matrix) {
    ^bb0(%n: f64, %out: f64):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %ci = arith.remui %i, %c3 : index
      %is_own = arith.cmpi eq, %ci, %j : index
      %mean = arith.select %is_own, %signal, %zero : f64
      %feature = arith.addf %mean, %n : f64
      linalg.yield %feature : f64
  } -> !matrix
  %labels = tensor.generate %c240 {
    ^bb0(%i: index):
      %class = arith.remui %i, %c3 : index
      %label = arith.index_cast %class : index to i32
      tensor.yield %label : i32
  } : tensor<?xi32>
  %train = tensor.generate %c30 {
    ^bb0(%i: index):
      %node = arith.muli %i, %c8 : index
      %number = arith.index_cast %node : index to i32
      tensor.yield %number : i32
  } : tensor<?xi32>
  %test = tensor.generate %c210 {
    ^bb0(%i: index):
      %eight = arith.divui %i, %c7 : index
      %rest = arith.remui %i, %c7 : index
      %base = arith.muli %eight, %c8 : index
      %place = arith.addi %rest, %c1 : index
      %node = arith.addi %base, %place : index
      %number = arith.index_cast %node : index to i32
      tensor.yield %number : i32
  } : tensor<?xi32>
  %w1 = func.call @random_weights(%seed, %counter2, %inputs, %hidden) : (i64, i64, index, index) -> !matrix
  %w2 = func.call @random_weights(%seed, %counter3, %hidden, %c3) : (i64, i64, index, index) -> !matrix
  // Every edge has the weight 1 at first, as in the adjacency.
  %losses, %accuracy, %edges = func.call
      @fit(%adjacency, %features, %labels, %train, %test, %w1, %w2, %adjacency, %epochs)
      : (!sparse, !matrix, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, !matrix, !matrix, !sparse, index)
      -> (!column, f64, !sparse)
  return %losses, %accuracy : !column, f64
}
