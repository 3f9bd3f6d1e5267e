// A recommender of embeddings: matrix factorisation whose tables are read and
// updated a few rows at a time.
//
// Each user and each item has a row of a table: a bias, then seven factors. The
// rating of an item by a user is predicted as
//
//   mean + user[0] + item[0] + user[1] item[1] + ... + user[7] item[7]
//
// A step takes a batch of ratings and gathers their rows. The gradient of a table
// is asked for as *row-sparse*: it stores the rows of the batch, each once. Adam
// touches the moments of these rows only (as torch.optim.SparseAdam does), so
// that time and memory of a step do not depend on how many rows a table has. The
// loss is written forward only; value_and_grad makes its gradient.
//
//   sparse-runner examples/recommender_embedding.mlir --entry=planted --arg seed=0
//   sparse-runner examples/recommender_embedding.mlir --entry=train --arg ratings=ratings.csv \
//       --arg seed=0 --report
//   sparse-runner examples/recommender_embedding.mlir --entry=synthetic --arg rows=10000000 \
//       --arg rounds=5 --arg seed=0
//
// @planted trains on ratings drawn from a model of its own; @train on a file of
// (user, item, rating) lines, of which it holds a random fifth out; @synthetic
// makes up a batch of ratings in each step, for a table of as many users as asked.

#COO = #sparse_tensor.encoding<{map = (u, i) -> (u : compressed(nonunique), i : singleton(soa))}>
#rows = #sparse_tensor.encoding<{map = (r, k) -> (r : compressed, k : dense)}>
#element = affine_map<(r, k) -> (r, k)>
#row = affine_map<(r, k) -> (r)>
#vector = affine_map<(d) -> (d)>
#scalar = affine_map<(d) -> ()>

!table = tensor<?x8xf64>
!gradient = tensor<?x8xf64, #rows>
!ids = tensor<?xindex>
!values = tensor<?xf64>
!mask = tensor<?xi1>

// The squared errors of the predictions of a list of ratings.
func.func private @squared_errors(%users: !table, %items: !table, %mean: f64, %ratings: !values) -> !values {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %count = tensor.dim %ratings, %c0 : !values
  %empty = tensor.empty(%count) : !values
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : !values) -> !values
  %offsets = linalg.generic {
      indexing_maps = [#element, #element, #row], iterator_types = ["parallel", "reduction"]}
      ins(%users, %items : !table, !table) outs(%zeros : !values) {
    ^bb0(%u: f64, %i: f64, %sum: f64):
      %k = linalg.index 1 : index
      %is_bias = arith.cmpi eq, %k, %c0 : index
      %biases = arith.addf %u, %i : f64
      %product = arith.mulf %u, %i : f64
      %term = arith.select %is_bias, %biases, %product : f64
      %next = arith.addf %sum, %term : f64
      linalg.yield %next : f64
  } -> !values
  %squares = linalg.generic {
      indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%offsets, %ratings : !values, !values) outs(%empty : !values) {
    ^bb0(%offset: f64, %rating: f64, %out: f64):
      %prediction = arith.addf %mean, %offset : f64
      %error = arith.subf %prediction, %rating : f64
      %square = arith.mulf %error, %error : f64
      linalg.yield %square : f64
  } -> !values
  return %squares : !values
}

func.func private @sum_of_squares(%x: !table) -> f64 {
  %squares = arith.mulf %x, %x : !table
  %sum = sparse_autograd.masked_reduce sum %squares dims = [0, 1] : !table -> tensor<f64>
  %value = tensor.extract %sum[] : tensor<f64>
  return %value : f64
}

// The loss of a batch: squared errors of the selected ratings, plus L2 on the
// rows that were read.
func.func private @loss(%user_table: !table, %item_table: !table, %users: !ids, %items: !ids,
    %mean: f64, %ratings: !values, %selected: !mask, %l2: f64) -> f64 {
  %u = sparse_autograd.gather %user_table, %users : !table, !ids -> !table
  %i = sparse_autograd.gather %item_table, %items : !table, !ids -> !table
  %squares = func.call @squared_errors(%u, %i, %mean, %ratings) : (!table, !table, f64, !values) -> !values
  %data = sparse_autograd.masked_reduce sum %squares, %selected dims = [0] : !values, !mask -> tensor<f64>
  %errors = tensor.extract %data[] : tensor<f64>
  %u2 = func.call @sum_of_squares(%u) : (!table) -> f64
  %i2 = func.call @sum_of_squares(%i) : (!table) -> f64
  %squared = arith.addf %u2, %i2 : f64
  %penalty = arith.mulf %l2, %squared : f64
  %loss = arith.addf %errors, %penalty : f64
  return %loss : f64
}

// One step of Adam (Kingma and Ba, 2015) on the rows that the gradient stores:
// what is sampled at its pattern is changed, the rest of table and moments stays.
func.func private @adam(%x: !table, %g: !gradient, %m: !table, %v: !table,
    %correction1: f64, %correction2: f64) -> (!table, !table, !table) {
  %beta1 = arith.constant 0.9 : f64
  %beta2 = arith.constant 0.999 : f64
  %rest1 = arith.constant 0.1 : f64
  %rest2 = arith.constant 0.001 : f64
  %rate = arith.constant -0.02 : f64
  %epsilon = arith.constant 1.0e-8 : f64
  %old_m = sparse_autograd.sample %m, %g : !table, !gradient -> !gradient
  %old_v = sparse_autograd.sample %v, %g : !table, !gradient -> !gradient
  %pattern = sparse_autograd.zeros %g : !gradient -> !gradient
  %dm = linalg.generic {
      indexing_maps = [#element, #element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%g, %old_m : !gradient, !gradient) outs(%pattern : !gradient) {
    ^bb0(%gi: f64, %mi: f64, %out: f64):
      %difference = arith.subf %gi, %mi : f64
      %change = arith.mulf %rest1, %difference : f64
      linalg.yield %change : f64
  } -> !gradient
  %dv = linalg.generic {
      indexing_maps = [#element, #element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%g, %old_v : !gradient, !gradient) outs(%pattern : !gradient) {
    ^bb0(%gi: f64, %vi: f64, %out: f64):
      %g2 = arith.mulf %gi, %gi : f64
      %difference = arith.subf %g2, %vi : f64
      %change = arith.mulf %rest2, %difference : f64
      linalg.yield %change : f64
  } -> !gradient
  %dx = linalg.generic {
      indexing_maps = [#element, #element, #element, #element, #element],
      iterator_types = ["parallel", "parallel"]}
      ins(%old_m, %dm, %old_v, %dv : !gradient, !gradient, !gradient, !gradient) outs(%pattern : !gradient) {
    ^bb0(%mi: f64, %dmi: f64, %vi: f64, %dvi: f64, %out: f64):
      %m_new = arith.addf %mi, %dmi : f64
      %v_new = arith.addf %vi, %dvi : f64
      %m_hat = arith.divf %m_new, %correction1 : f64
      %v_hat = arith.divf %v_new, %correction2 : f64
      %root = math.sqrt %v_hat : f64
      %denominator = arith.addf %root, %epsilon : f64
      %direction = arith.divf %m_hat, %denominator : f64
      %step = arith.mulf %rate, %direction : f64
      linalg.yield %step : f64
  } -> !gradient
  %x1 = sparse_autograd.accumulate %x, %dx : !table, !gradient -> !table
  %m1 = sparse_autograd.accumulate %m, %dm : !table, !gradient -> !table
  %v1 = sparse_autograd.accumulate %v, %dv : !table, !gradient -> !table
  return %x1, %m1, %v1 : !table, !table, !table
}

// A step on a batch of ratings, of which a mask selects some: the loss, then both
// tables and their moments.
func.func private @step(%user_table: !table, %item_table: !table, %mu: !table, %mi: !table,
    %vu: !table, %vi: !table, %users: !ids, %items: !ids, %mean: f64, %ratings: !values,
    %selected: !mask, %l2: f64, %correction1: f64, %correction2: f64)
    -> (f64, !table, !table, !table, !table, !table, !table) {
  %loss, %gu, %gi = sparse_autograd.value_and_grad
      @loss(%user_table, %item_table, %users, %items, %mean, %ratings, %selected, %l2) {wrt = [0, 1]}
      : (!table, !table, !ids, !ids, f64, !values, !mask, f64) -> (f64, !gradient, !gradient)
  %u1, %mu1, %vu1 = func.call @adam(%user_table, %gu, %mu, %vu, %correction1, %correction2)
      : (!table, !gradient, !table, !table, f64, f64) -> (!table, !table, !table)
  %i1, %mi1, %vi1 = func.call @adam(%item_table, %gi, %mi, %vi, %correction1, %correction2)
      : (!table, !gradient, !table, !table, f64, f64) -> (!table, !table, !table)
  return %loss, %u1, %i1, %mu1, %mi1, %vu1, %vi1 : f64, !table, !table, !table, !table, !table, !table
}

func.func private @zeros(%rows: index) -> !table {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty(%rows) : !table
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : !table) -> !table
  return %zeros : !table
}

// A table to start from: biases of zero, factors of normal numbers times 0.1.
func.func private @random_table(%seed: i64, %counter: i64, %rows: index) -> !table {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %scale = arith.constant 0.1 : f64
  %normal = sparse_autograd.random normal %seed, %counter, [%rows] : !table
  %empty = tensor.empty(%rows) : !table
  %table = linalg.generic {
      indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%normal : !table) outs(%empty : !table) {
    ^bb0(%in: f64, %out: f64):
      %k = linalg.index 1 : index
      %is_bias = arith.cmpi eq, %k, %c0 : index
      %scaled = arith.mulf %in, %scale : f64
      %value = arith.select %is_bias, %zero, %scaled : f64
      linalg.yield %value : f64
  } -> !table
  return %table : !table
}

// The root of the mean of the selected squared errors.
func.func private @rmse(%squares: !values, %selected: !mask) -> f64 {
  %mean = sparse_autograd.masked_reduce mean %squares, %selected dims = [0] : !values, !mask -> tensor<f64>
  %value = tensor.extract %mean[] : tensor<f64>
  %rmse = math.sqrt %value : f64
  return %rmse : f64
}

// Trains on a random 80% of the ratings, in `batches` steps an epoch, and returns
// the RMSE on them and on the rest. A batch takes every `batches`-th rating.
func.func @fit(
    %ratings: tensor<?x?xf64, #COO> {sparse_autograd.name = "ratings"},
    %seed: i64 {sparse_autograd.name = "seed"},
    %epochs: index {sparse_autograd.name = "epochs"},
    %batches: index {sparse_autograd.name = "batches"},
    %l2: f64 {sparse_autograd.name = "l2"})
    -> (f64 {sparse_autograd.name = "train_rmse"}, f64 {sparse_autograd.name = "held_out_rmse"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %counter0 = arith.constant 0 : i64
  %counter1 = arith.constant 1 : i64
  %counter2 = arith.constant 2 : i64
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %beta1 = arith.constant 0.9 : f64
  %beta2 = arith.constant 0.999 : f64
  %true = arith.constant true
  %num_users = tensor.dim %ratings, %c0 : tensor<?x?xf64, #COO>
  %num_items = tensor.dim %ratings, %c1 : tensor<?x?xf64, #COO>
  %users = sparse_autograd.stored_coordinates %ratings {level = 0 : index} : tensor<?x?xf64, #COO> -> !ids
  %items = sparse_autograd.stored_coordinates %ratings {level = 1 : index} : tensor<?x?xf64, #COO> -> !ids
  %values = sparse_autograd.stored_values %ratings : tensor<?x?xf64, #COO> -> !values
  %count = tensor.dim %values, %c0 : !values
  %train = sparse_autograd.random bernoulli %seed, %counter0, [%count] probability = 0.8 : !mask
  %no_mask = tensor.empty(%count) : !mask
  %held_out = linalg.generic {
      indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%train : !mask) outs(%no_mask : !mask) {
    ^bb0(%t: i1, %out: i1):
      %rest = arith.xori %t, %true : i1
      linalg.yield %rest : i1
  } -> !mask
  %mean_tensor = sparse_autograd.masked_reduce mean %values, %train dims = [0] : !values, !mask -> tensor<f64>
  %mean = tensor.extract %mean_tensor[] : tensor<f64>

  %u0 = func.call @random_table(%seed, %counter1, %num_users) : (i64, i64, index) -> !table
  %i0 = func.call @random_table(%seed, %counter2, %num_items) : (i64, i64, index) -> !table
  %mu0 = func.call @zeros(%num_users) : (index) -> !table
  %mi0 = func.call @zeros(%num_items) : (index) -> !table
  %vu0 = func.call @zeros(%num_users) : (index) -> !table
  %vi0 = func.call @zeros(%num_items) : (index) -> !table
  %end:10 = scf.for %epoch = %c0 to %epochs step %c1
      iter_args(%u = %u0, %i = %i0, %mu = %mu0, %mi = %mi0, %vu = %vu0, %vi = %vi0,
                %power1 = %one, %power2 = %one, %rmse0 = %zero, %rmse1 = %zero)
      -> (!table, !table, !table, !table, !table, !table, f64, f64, f64, f64) {
    %pass:9 = scf.for %batch = %c0 to %batches step %c1
        iter_args(%bu = %u, %bi = %i, %bmu = %mu, %bmi = %mi, %bvu = %vu, %bvi = %vi,
                  %p1 = %power1, %p2 = %power2, %sum = %zero)
        -> (!table, !table, !table, !table, !table, !table, f64, f64, f64) {
      // Ratings batch, batch + batches, batch + 2 batches, ...
      %left = arith.subi %count, %batch : index
      %size = arith.ceildivui %left, %batches : index
      %ids_u = tensor.extract_slice %users[%batch] [%size] [%batches] : !ids to !ids
      %ids_i = tensor.extract_slice %items[%batch] [%size] [%batches] : !ids to !ids
      %known = tensor.extract_slice %values[%batch] [%size] [%batches] : !values to !values
      %selected = tensor.extract_slice %train[%batch] [%size] [%batches] : !mask to !mask
      %next1 = arith.mulf %p1, %beta1 : f64
      %next2 = arith.mulf %p2, %beta2 : f64
      %correction1 = arith.subf %one, %next1 : f64
      %correction2 = arith.subf %one, %next2 : f64
      %loss, %bu1, %bi1, %bmu1, %bmi1, %bvu1, %bvi1 = func.call @step(%bu, %bi, %bmu, %bmi, %bvu, %bvi,
          %ids_u, %ids_i, %mean, %known, %selected, %l2, %correction1, %correction2)
          : (!table, !table, !table, !table, !table, !table, !ids, !ids, f64, !values, !mask, f64, f64, f64)
          -> (f64, !table, !table, !table, !table, !table, !table)
      %losses = arith.addf %sum, %loss : f64
      scf.yield %bu1, %bi1, %bmu1, %bmi1, %bvu1, %bvi1, %next1, %next2, %losses
          : !table, !table, !table, !table, !table, !table, f64, f64, f64
    }
    %all_u = sparse_autograd.gather %pass#0, %users : !table, !ids -> !table
    %all_i = sparse_autograd.gather %pass#1, %items : !table, !ids -> !table
    %squares = func.call @squared_errors(%all_u, %all_i, %mean, %values) : (!table, !table, f64, !values) -> !values
    %train_rmse = func.call @rmse(%squares, %train) : (!values, !mask) -> f64
    %held_out_rmse = func.call @rmse(%squares, %held_out) : (!values, !mask) -> f64
    %number = arith.addi %epoch, %c1 : index
    sparse_autograd.log "epoch" %number, "loss" %pass#8, "train RMSE" %train_rmse, "held-out RMSE" %held_out_rmse
        : index, f64, f64, f64
    scf.yield %pass#0, %pass#1, %pass#2, %pass#3, %pass#4, %pass#5, %pass#6, %pass#7, %train_rmse, %held_out_rmse
        : !table, !table, !table, !table, !table, !table, f64, f64, f64, f64
  }
  return %end#8, %end#9 : f64, f64
}

// Ratings from a file: 20 epochs of 25 batches.
func.func @train(
    %ratings: tensor<?x?xf64, #COO> {sparse_autograd.name = "ratings"},
    %seed: i64 {sparse_autograd.name = "seed"})
    -> (f64 {sparse_autograd.name = "train_rmse"}, f64 {sparse_autograd.name = "held_out_rmse"}) {
  %epochs = arith.constant 20 : index
  %batches = arith.constant 25 : index
  %l2 = arith.constant 0.125 : f64
  %rmse:2 = func.call @fit(%ratings, %seed, %epochs, %batches, %l2)
      : (tensor<?x?xf64, #COO>, i64, index, index, f64) -> (f64, f64)
  return %rmse#0, %rmse#1 : f64, f64
}

// Ratings of 400 users for 500 items from a planted model of rank 4 with noise of
// standard deviation 0.25; two fifths of them are observed. 20 epochs of 20 batches.
func.func @planted(%seed: i64 {sparse_autograd.name = "seed"})
    -> (f64 {sparse_autograd.name = "train_rmse"}, f64 {sparse_autograd.name = "held_out_rmse"}) {
  %c10 = arith.constant 10 : i64
  %c11 = arith.constant 11 : i64
  %c12 = arith.constant 12 : i64
  %c13 = arith.constant 13 : i64
  %c14 = arith.constant 14 : i64
  %c15 = arith.constant 15 : i64
  %noise = arith.constant 0.25 : f64
  %strength = arith.constant 0.5 : f64
  %center = arith.constant 3.5 : f64
  %zero = arith.constant 0.0 : f64
  %bu = sparse_autograd.random normal %seed, %c10 : tensor<400xf64>
  %bi = sparse_autograd.random normal %seed, %c11 : tensor<500xf64>
  %p = sparse_autograd.random normal %seed, %c12 : tensor<400x4xf64>
  %q = sparse_autograd.random normal %seed, %c13 : tensor<500x4xf64>
  %e = sparse_autograd.random normal %seed, %c14 : tensor<400x500xf64>
  %o = sparse_autograd.random bernoulli %seed, %c15 probability = 0.4 : tensor<400x500xi1>
  %empty = tensor.empty() : tensor<400x500xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<400x500xf64>) -> tensor<400x500xf64>
  %products = linalg.matmul
      indexing_maps = [affine_map<(u, i, k) -> (u, k)>, affine_map<(u, i, k) -> (i, k)>, affine_map<(u, i, k) -> (u, i)>]
      ins(%p, %q : tensor<400x4xf64>, tensor<500x4xf64>) outs(%zeros : tensor<400x500xf64>) -> tensor<400x500xf64>
  %dense = linalg.generic {
      indexing_maps = [#element, #row, affine_map<(u, i) -> (i)>, #element, #element, #element],
      iterator_types = ["parallel", "parallel"]}
      ins(%products, %bu, %bi, %e, %o
          : tensor<400x500xf64>, tensor<400xf64>, tensor<500xf64>, tensor<400x500xf64>, tensor<400x500xi1>)
      outs(%empty : tensor<400x500xf64>) {
    ^bb0(%product: f64, %u: f64, %i: f64, %n: f64, %observed: i1, %out: f64):
      %biases = arith.addf %u, %i : f64
      %signal = arith.addf %biases, %product : f64
      %scaled = arith.mulf %strength, %signal : f64
      %error = arith.mulf %noise, %n : f64
      %based = arith.addf %center, %scaled : f64
      %rating = arith.addf %based, %error : f64
      %value = arith.select %observed, %rating, %zero : f64
      linalg.yield %value : f64
  } -> tensor<400x500xf64>
  %sparse = sparse_tensor.convert %dense : tensor<400x500xf64> to tensor<400x500xf64, #COO>
  %ratings = tensor.cast %sparse : tensor<400x500xf64, #COO> to tensor<?x?xf64, #COO>
  %epochs = arith.constant 20 : index
  %batches = arith.constant 20 : index
  %l2 = arith.constant 0.01 : f64
  %rmse:2 = func.call @fit(%ratings, %seed, %epochs, %batches, %l2)
      : (tensor<?x?xf64, #COO>, i64, index, index, f64) -> (f64, f64)
  return %rmse#0, %rmse#1 : f64, f64
}

// A list of `count` ids below `rows`, drawn at random.
func.func private @random_ids(%seed: i64, %counter: i64, %count: index, %rows: index) -> !ids {
  %uniform = sparse_autograd.random uniform %seed, %counter, [%count] : !values
  %integer = arith.index_cast %rows : index to i64
  %scale = arith.sitofp %integer : i64 to f64
  %empty = tensor.empty(%count) : !ids
  %ids = linalg.generic {
      indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%uniform : !values) outs(%empty : !ids) {
    ^bb0(%u: f64, %out: index):
      %scaled = arith.mulf %u, %scale : f64
      %number = arith.fptosi %scaled : f64 to i64
      %id = arith.index_cast %number : i64 to index
      linalg.yield %id : index
  } -> !ids
  return %ids : !ids
}

// Rounds of 100 steps, each on 4096 ratings of `rows` users for 10000 items drawn
// anew: 4, plus 1 for an even user, minus 1 for an even item. Returns the RMSE of
// the last batch before its step.
func.func @synthetic(
    %rows: index {sparse_autograd.name = "rows"},
    %rounds: index {sparse_autograd.name = "rounds"},
    %seed: i64 {sparse_autograd.name = "seed"}) -> (f64 {sparse_autograd.name = "rmse"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c100 = arith.constant 100 : index
  %count = arith.constant 4096 : index
  %num_items = arith.constant 10000 : index
  %counter0 = arith.constant 0 : i64
  %counter1 = arith.constant 1 : i64
  %counter2 = arith.constant 2 : i64
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %minus_one = arith.constant -1.0 : f64
  %mean = arith.constant 4.0 : f64
  %l2 = arith.constant 0.0 : f64
  %beta1 = arith.constant 0.9 : f64
  %beta2 = arith.constant 0.999 : f64
  %true = arith.constant true
  %batch = arith.constant 4096.0 : f64
  %no_mask = tensor.empty(%count) : !mask
  %all = linalg.fill ins(%true : i1) outs(%no_mask : !mask) -> !mask
  %u0 = func.call @random_table(%seed, %counter1, %rows) : (i64, i64, index) -> !table
  %i0 = func.call @random_table(%seed, %counter2, %num_items) : (i64, i64, index) -> !table
  %mu0 = func.call @zeros(%rows) : (index) -> !table
  %mi0 = func.call @zeros(%num_items) : (index) -> !table
  %vu0 = func.call @zeros(%rows) : (index) -> !table
  %vi0 = func.call @zeros(%num_items) : (index) -> !table
  %end:9 = scf.for %round = %c0 to %rounds step %c1
      iter_args(%ru = %u0, %ri = %i0, %rmu = %mu0, %rmi = %mi0, %rvu = %vu0, %rvi = %vi0,
                %rp1 = %one, %rp2 = %one, %rlast = %zero)
      -> (!table, !table, !table, !table, !table, !table, f64, f64, f64) {
    %pass:9 = scf.for %k = %c0 to %c100 step %c1
        iter_args(%u = %ru, %i = %ri, %mu = %rmu, %mi = %rmi, %vu = %rvu, %vi = %rvi,
                  %p1 = %rp1, %p2 = %rp2, %last = %rlast)
        -> (!table, !table, !table, !table, !table, !table, f64, f64, f64) {
      %before = arith.muli %round, %c100 : index
      %step = arith.addi %before, %k : index
      %number = arith.index_cast %step : index to i64
      %first = arith.addi %seed, %number : i64
      %users = func.call @random_ids(%first, %counter0, %count, %rows) : (i64, i64, index, index) -> !ids
      %items = func.call @random_ids(%first, %counter1, %count, %num_items) : (i64, i64, index, index) -> !ids
      %empty = tensor.empty(%count) : !values
      %ratings = linalg.generic {
          indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
          ins(%users, %items : !ids, !ids) outs(%empty : !values) {
        ^bb0(%user: index, %item: index, %out: f64):
          %user_rest = arith.remui %user, %c2 : index
          %item_rest = arith.remui %item, %c2 : index
          %even_user = arith.cmpi eq, %user_rest, %c0 : index
          %even_item = arith.cmpi eq, %item_rest, %c0 : index
          %du = arith.select %even_user, %one, %zero : f64
          %di = arith.select %even_item, %minus_one, %zero : f64
          %offset = arith.addf %du, %di : f64
          %rating = arith.addf %mean, %offset : f64
          linalg.yield %rating : f64
      } -> !values
      %next1 = arith.mulf %p1, %beta1 : f64
      %next2 = arith.mulf %p2, %beta2 : f64
      %correction1 = arith.subf %one, %next1 : f64
      %correction2 = arith.subf %one, %next2 : f64
      %loss, %u1, %i1, %mu1, %mi1, %vu1, %vi1 = func.call @step(%u, %i, %mu, %mi, %vu, %vi,
          %users, %items, %mean, %ratings, %all, %l2, %correction1, %correction2)
          : (!table, !table, !table, !table, !table, !table, !ids, !ids, f64, !values, !mask, f64, f64, f64)
          -> (f64, !table, !table, !table, !table, !table, !table)
      %mean_loss = arith.divf %loss, %batch : f64
      %rmse = math.sqrt %mean_loss : f64
      scf.yield %u1, %i1, %mu1, %mi1, %vu1, %vi1, %next1, %next2, %rmse
          : !table, !table, !table, !table, !table, !table, f64, f64, f64
    }
    %round_number = arith.addi %round, %c1 : index
    sparse_autograd.log "round" %round_number, "RMSE" %pass#8 : index, f64
    scf.yield %pass#0, %pass#1, %pass#2, %pass#3, %pass#4, %pass#5, %pass#6, %pass#7, %pass#8
        : !table, !table, !table, !table, !table, !table, f64, f64, f64
  }
  return %end#8 : f64
}
