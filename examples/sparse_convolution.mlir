// Submanifold convolution (Graham and van der Maaten, 2017) on a sparse grid: the
// result has the active sites of the input, and what is not active is nowhere
// computed.
//
// The active sites are what a sparse grid stores. A rule book says which site, if
// any, lies at each of the nine offsets of each site; a convolution gathers the
// features there, multiplies them by a matrix for each offset and adds. A network
// of two layers learns what a planted one computes, to a mean squared error below
// 0.001. The loss is written forward only; value_and_grad makes its gradient.
//
//   sparse-runner examples/sparse_convolution.mlir --entry=train --arg seed=0
//   sparse-runner examples/sparse_convolution.mlir --entry=convolve --arg grid=grid.npy \
//       --arg kernel=kernel.npy --result result0=out.mtx

#COO = #sparse_tensor.encoding<{map = (y, x) -> (y : compressed(nonunique), x : singleton(soa))}>
#rules = affine_map<(k, s) -> (k, s)>
#vector = affine_map<(d) -> (d)>

!grid = tensor<?x?xf64, #COO>
!ids = tensor<?xindex>
!book = tensor<9x?xindex>
!one = tensor<?x1xf64>
!eight = tensor<?x8xf64>
!weights = tensor<72xf64>

// For each offset and each site, the number of the site there: of n sites, n
// stands for none.
func.func private @rule_book(%grid: !grid) -> !book {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %rows = sparse_autograd.stored_coordinates %grid {level = 0 : index} : !grid -> !ids
  %columns = sparse_autograd.stored_coordinates %grid {level = 1 : index} : !grid -> !ids
  %sites = tensor.dim %rows, %c0 : !ids
  %height = tensor.dim %grid, %c0 : !grid
  %width = tensor.dim %grid, %c1 : !grid
  // Numbers of sites on the grid, with a border of none.
  %bordered_height = arith.addi %height, %c2 : index
  %bordered_width = arith.addi %width, %c2 : index
  %no_map = tensor.empty(%bordered_height, %bordered_width) : tensor<?x?xindex>
  %none = linalg.fill ins(%sites : index) outs(%no_map : tensor<?x?xindex>) -> tensor<?x?xindex>
  %map = scf.for %s = %c0 to %sites step %c1 iter_args(%m = %none) -> tensor<?x?xindex> {
    %row = tensor.extract %rows[%s] : !ids
    %column = tensor.extract %columns[%s] : !ids
    %y = arith.addi %row, %c1 : index
    %x = arith.addi %column, %c1 : index
    %next = tensor.insert %s into %m[%y, %x] : tensor<?x?xindex>
    scf.yield %next : tensor<?x?xindex>
  }
  %no_book = tensor.empty(%sites) : !book
  %book = linalg.generic {
      indexing_maps = [affine_map<(k, s) -> (s)>, affine_map<(k, s) -> (s)>, #rules],
      iterator_types = ["parallel", "parallel"]}
      ins(%rows, %columns : !ids, !ids) outs(%no_book : !book) {
    ^bb0(%row: index, %column: index, %out: index):
      %k = linalg.index 0 : index
      %dy = arith.divui %k, %c3 : index
      %dx = arith.remui %k, %c3 : index
      %y = arith.addi %row, %dy : index
      %x = arith.addi %column, %dx : index
      %site = tensor.extract %map[%y, %x] : tensor<?x?xindex>
      linalg.yield %site : index
  } -> !book
  return %book : !book
}

// A layer from one feature to eight, and one from eight to one.
func.func private @widen(%x: !one, %kernel: tensor<9x1x8xf64>, %book: !book) -> !eight {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  // The site that stands for none has zeros.
  %padded = tensor.pad %x low[0, 0] high[1, 0] {
    ^bb0(%s: index, %f: index):
      tensor.yield %zero : f64
  } : !one to !one
  %near = sparse_autograd.gather %padded, %book : !one, !book -> tensor<9x?x1xf64>
  %sites = tensor.dim %x, %c0 : !one
  %empty = tensor.empty(%sites) : !eight
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : !eight) -> !eight
  %y = linalg.generic {
      indexing_maps = [affine_map<(s, g, k, f) -> (k, s, f)>, affine_map<(s, g, k, f) -> (k, f, g)>,
                       affine_map<(s, g, k, f) -> (s, g)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%near, %kernel : tensor<9x?x1xf64>, tensor<9x1x8xf64>) outs(%zeros : !eight) {
    ^bb0(%a: f64, %w: f64, %sum: f64):
      %product = arith.mulf %a, %w : f64
      %next = arith.addf %sum, %product : f64
      linalg.yield %next : f64
  } -> !eight
  return %y : !eight
}

func.func private @narrow(%x: !eight, %kernel: tensor<9x8x1xf64>, %book: !book) -> !one {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %padded = tensor.pad %x low[0, 0] high[1, 0] {
    ^bb0(%s: index, %f: index):
      tensor.yield %zero : f64
  } : !eight to !eight
  %near = sparse_autograd.gather %padded, %book : !eight, !book -> tensor<9x?x8xf64>
  %sites = tensor.dim %x, %c0 : !eight
  %empty = tensor.empty(%sites) : !one
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : !one) -> !one
  %y = linalg.generic {
      indexing_maps = [affine_map<(s, g, k, f) -> (k, s, f)>, affine_map<(s, g, k, f) -> (k, f, g)>,
                       affine_map<(s, g, k, f) -> (s, g)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%near, %kernel : tensor<9x?x8xf64>, tensor<9x8x1xf64>) outs(%zeros : !one) {
    ^bb0(%a: f64, %w: f64, %sum: f64):
      %product = arith.mulf %a, %w : f64
      %next = arith.addf %sum, %product : f64
      linalg.yield %next : f64
  } -> !one
  return %y : !one
}

// Both layers, with tanh between them.
func.func private @network(%x: !one, %book: !book, %w1: !weights, %w2: !weights) -> !one {
  %kernel1 = tensor.expand_shape %w1 [[0, 1, 2]] output_shape [9, 1, 8] : !weights into tensor<9x1x8xf64>
  %kernel2 = tensor.expand_shape %w2 [[0, 1, 2]] output_shape [9, 8, 1] : !weights into tensor<9x8x1xf64>
  %h = func.call @widen(%x, %kernel1, %book) : (!one, tensor<9x1x8xf64>, !book) -> !eight
  %t = math.tanh %h : !eight
  %y = func.call @narrow(%t, %kernel2, %book) : (!eight, tensor<9x8x1xf64>, !book) -> !one
  return %y : !one
}

// The mean of the squared errors at the active sites.
func.func private @loss(%w1: !weights, %w2: !weights, %x: !one, %book: !book, %target: !one) -> f64 {
  %y = func.call @network(%x, %book, %w1, %w2) : (!one, !book, !weights, !weights) -> !one
  %error = arith.subf %y, %target : !one
  %square = arith.mulf %error, %error : !one
  %mean = sparse_autograd.masked_reduce mean %square dims = [0, 1] : !one -> tensor<f64>
  %value = tensor.extract %mean[] : tensor<f64>
  return %value : f64
}

// One step of Adam (Kingma and Ba, 2015): the new parameters and moments.
func.func private @adam(%w: !weights, %g: !weights, %m: !weights, %v: !weights,
    %correction1: f64, %correction2: f64) -> (!weights, !weights, !weights) {
  %beta1 = arith.constant 0.9 : f64
  %beta2 = arith.constant 0.999 : f64
  %rest1 = arith.constant 0.1 : f64
  %rest2 = arith.constant 0.001 : f64
  %rate = arith.constant 0.02 : f64
  %epsilon = arith.constant 1.0e-8 : f64
  %new:3 = linalg.generic {
      indexing_maps = [#vector, #vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%g : !weights) outs(%w, %m, %v : !weights, !weights, !weights) {
    ^bb0(%gi: f64, %wi: f64, %mi: f64, %vi: f64):
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
      %w_new = arith.subf %wi, %step : f64
      linalg.yield %w_new, %m_new, %v_new : f64, f64, f64
  } -> (!weights, !weights, !weights)
  return %new#0, %new#1, %new#2 : !weights, !weights, !weights
}

// Weights to start from: normal numbers times 0.3.
func.func private @random_weights(%seed: i64, %counter: i64) -> !weights {
  %scale = arith.constant 0.3 : f64
  %normal = sparse_autograd.random normal %seed, %counter : !weights
  %scales = tensor.splat %scale : !weights
  %w = arith.mulf %normal, %scales : !weights
  return %w : !weights
}

// The features of the sites of a grid, a row each.
func.func private @features(%grid: !grid) -> !one {
  %c0 = arith.constant 0 : index
  %values = sparse_autograd.stored_values %grid : !grid -> tensor<?xf64>
  %sites = tensor.dim %values, %c0 : tensor<?xf64>
  %x = tensor.expand_shape %values [[0, 1]] output_shape [%sites, 1] : tensor<?xf64> into !one
  return %x : !one
}

// Convolves the grid with one kernel of 3 x 3, at its active sites.
func.func @convolve(%grid: !grid {sparse_autograd.name = "grid"},
                    %kernel: tensor<3x3xf64> {sparse_autograd.name = "kernel"}) -> !grid {
  %zero = arith.constant 0.0 : f64
  %book = func.call @rule_book(%grid) : (!grid) -> !book
  %x = func.call @features(%grid) : (!grid) -> !one
  // The first of eight features is the result.
  %empty = tensor.empty() : tensor<9x1x8xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<9x1x8xf64>) -> tensor<9x1x8xf64>
  %offsets = tensor.collapse_shape %kernel [[0, 1]] : tensor<3x3xf64> into tensor<9xf64>
  %kernels = tensor.insert_slice %offsets into %zeros[0, 0, 0] [9, 1, 1] [1, 1, 1]
      : tensor<9xf64> into tensor<9x1x8xf64>
  %y = func.call @widen(%x, %kernels, %book) : (!one, tensor<9x1x8xf64>, !book) -> !eight
  %c0 = arith.constant 0 : index
  %sites = tensor.dim %y, %c0 : !eight
  %first = tensor.extract_slice %y[0, 0] [%sites, 1] [1, 1] : !eight to tensor<?xf64>
  %result = sparse_autograd.with_values %first, %grid : tensor<?xf64>, !grid -> !grid
  return %result : !grid
}

// Trains for 300 epochs on a grid of 32 x 32 with a fifth of its sites active, whose
// targets a planted network computes. Returns the first and the last loss.
func.func @train(%seed: i64 {sparse_autograd.name = "seed"})
    -> (f64 {sparse_autograd.name = "first_loss"}, f64 {sparse_autograd.name = "last_loss"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %epochs = arith.constant 300 : index
  %counter0 = arith.constant 0 : i64
  %counter1 = arith.constant 1 : i64
  %counter2 = arith.constant 2 : i64
  %counter3 = arith.constant 3 : i64
  %counter4 = arith.constant 4 : i64
  %counter5 = arith.constant 5 : i64
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %beta1 = arith.constant 0.9 : f64
  %beta2 = arith.constant 0.999 : f64
  %values = sparse_autograd.random normal %seed, %counter0 : tensor<32x32xf64>
  %active = sparse_autograd.random bernoulli %seed, %counter1 probability = 0.2 : tensor<32x32xi1>
  %empty = tensor.empty() : tensor<32x32xf64>
  %dense = linalg.generic {
      indexing_maps = [affine_map<(y, x) -> (y, x)>, affine_map<(y, x) -> (y, x)>, affine_map<(y, x) -> (y, x)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%values, %active : tensor<32x32xf64>, tensor<32x32xi1>) outs(%empty : tensor<32x32xf64>) {
    ^bb0(%value: f64, %is_active: i1, %out: f64):
      %kept = arith.select %is_active, %value, %zero : f64
      linalg.yield %kept : f64
  } -> tensor<32x32xf64>
  %static = sparse_tensor.convert %dense : tensor<32x32xf64> to tensor<32x32xf64, #COO>
  %grid = tensor.cast %static : tensor<32x32xf64, #COO> to !grid
  %book = func.call @rule_book(%grid) : (!grid) -> !book
  %x = func.call @features(%grid) : (!grid) -> !one
  %planted1 = func.call @random_weights(%seed, %counter2) : (i64, i64) -> !weights
  %planted2 = func.call @random_weights(%seed, %counter3) : (i64, i64) -> !weights
  %target = func.call @network(%x, %book, %planted1, %planted2) : (!one, !book, !weights, !weights) -> !one

  %a0 = func.call @random_weights(%seed, %counter4) : (i64, i64) -> !weights
  %b0 = func.call @random_weights(%seed, %counter5) : (i64, i64) -> !weights
  %zeros = arith.constant dense<0.0> : !weights
  %first = func.call @loss(%a0, %b0, %x, %book, %target) : (!weights, !weights, !one, !book, !one) -> f64
  %end:9 = scf.for %epoch = %c0 to %epochs step %c1
      iter_args(%a = %a0, %b = %b0, %ma = %zeros, %mb = %zeros, %va = %zeros, %vb = %zeros,
                %power1 = %one, %power2 = %one, %last = %first)
      -> (!weights, !weights, !weights, !weights, !weights, !weights, f64, f64, f64) {
    %l, %ga, %gb = sparse_autograd.value_and_grad @loss(%a, %b, %x, %book, %target) {wrt = [0, 1]}
        : (!weights, !weights, !one, !book, !one) -> (f64, !weights, !weights)
    %next1 = arith.mulf %power1, %beta1 : f64
    %next2 = arith.mulf %power2, %beta2 : f64
    %correction1 = arith.subf %one, %next1 : f64
    %correction2 = arith.subf %one, %next2 : f64
    %a1, %ma1, %va1 = func.call @adam(%a, %ga, %ma, %va, %correction1, %correction2)
        : (!weights, !weights, !weights, !weights, f64, f64) -> (!weights, !weights, !weights)
    %b1, %mb1, %vb1 = func.call @adam(%b, %gb, %mb, %vb, %correction1, %correction2)
        : (!weights, !weights, !weights, !weights, f64, f64) -> (!weights, !weights, !weights)
    %number = arith.addi %epoch, %c1 : index
    sparse_autograd.log "epoch" %number, "loss" %l : index, f64
    scf.yield %a1, %b1, %ma1, %mb1, %va1, %vb1, %next1, %next2, %l
        : !weights, !weights, !weights, !weights, !weights, !weights, f64, f64, f64
  }
  return %first, %end#8 : f64, f64
}
