// A recommender: biased matrix factorisation with a masked squared loss.
//
// The rating of item i by user u is predicted as
//
//   mean + user_bias[u] + item_bias[i] + user_factors[u] . item_factors[i]
//
// The loss is written forward only; value_and_grad makes its gradient. The
// training loop (full-batch Adam) is part of the program, and the ratings that
// are not there are *absent*: a mask says which are, and nothing behind it
// reaches the loss or a gradient.
//
//   sparse-runner examples/recommender.mlir --entry=planted --arg seed=0
//   sparse-runner examples/recommender.mlir --entry=train --arg ratings=ratings.csv --arg seed=0
//   sparse-runner examples/recommender.mlir --entry=train_test --arg train=train.mtx \
//       --arg test=test.mtx --arg seed=0
//
// @planted trains on ratings drawn from a model of its own; @train on a file of
// (user, item, rating) lines, of which it holds a random fifth out; @train_test
// on one matrix, users by items, and is tested on another of the same extents.

#row = affine_map<(u, i) -> (u)>
#column = affine_map<(u, i) -> (i)>
#element = affine_map<(u, i) -> (u, i)>
#scalar = affine_map<(u, i) -> ()>
#users_by_factors = affine_map<(u, i, k) -> (u, k)>
#items_by_factors = affine_map<(u, i, k) -> (i, k)>
#users_by_items = affine_map<(u, i, k) -> (u, i)>
#vector = affine_map<(d) -> (d)>

// The predictions for all users and items.
func.func private @predict(%mean: tensor<f64>, %user_bias: tensor<?xf64>, %item_bias: tensor<?xf64>,
    %user_factors: tensor<?x8xf64>, %item_factors: tensor<?x8xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %users = tensor.dim %user_bias, %c0 : tensor<?xf64>
  %items = tensor.dim %item_bias, %c0 : tensor<?xf64>
  %empty = tensor.empty(%users, %items) : tensor<?x?xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %products = linalg.generic {
      indexing_maps = [#users_by_factors, #items_by_factors, #users_by_items],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%user_factors, %item_factors : tensor<?x8xf64>, tensor<?x8xf64>)
      outs(%zeros : tensor<?x?xf64>) {
    ^bb0(%p: f64, %q: f64, %sum: f64):
      %product = arith.mulf %p, %q : f64
      %next = arith.addf %sum, %product : f64
      linalg.yield %next : f64
  } -> tensor<?x?xf64>
  %predictions = linalg.generic {
      indexing_maps = [#element, #scalar, #row, #column, #element],
      iterator_types = ["parallel", "parallel"]}
      ins(%products, %mean, %user_bias, %item_bias
          : tensor<?x?xf64>, tensor<f64>, tensor<?xf64>, tensor<?xf64>)
      outs(%empty : tensor<?x?xf64>) {
    ^bb0(%product: f64, %m: f64, %bu: f64, %bi: f64, %out: f64):
      %biases = arith.addf %bu, %bi : f64
      %base = arith.addf %m, %biases : f64
      %sum = arith.addf %base, %product : f64
      linalg.yield %sum : f64
  } -> tensor<?x?xf64>
  return %predictions : tensor<?x?xf64>
}

// The squared errors of the predictions, behind the mask too.
func.func private @squared_errors(%predictions: tensor<?x?xf64>, %ratings: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %errors = arith.subf %predictions, %ratings : tensor<?x?xf64>
  %squares = arith.mulf %errors, %errors : tensor<?x?xf64>
  return %squares : tensor<?x?xf64>
}

func.func private @sum_of_squares_vector(%x: tensor<?xf64>) -> f64 {
  %squares = arith.mulf %x, %x : tensor<?xf64>
  %sum = sparse_autograd.masked_reduce sum %squares dims = [0] : tensor<?xf64> -> tensor<f64>
  %value = tensor.extract %sum[] : tensor<f64>
  return %value : f64
}

func.func private @sum_of_squares_matrix(%x: tensor<?x8xf64>) -> f64 {
  %squares = arith.mulf %x, %x : tensor<?x8xf64>
  %sum = sparse_autograd.masked_reduce sum %squares dims = [0, 1] : tensor<?x8xf64> -> tensor<f64>
  %value = tensor.extract %sum[] : tensor<f64>
  return %value : f64
}

// The loss: squared errors of the observed ratings plus L2 on biases, factors.
func.func private @loss(%user_bias: tensor<?xf64>, %item_bias: tensor<?xf64>,
    %user_factors: tensor<?x8xf64>, %item_factors: tensor<?x8xf64>,
    %mean: tensor<f64>, %ratings: tensor<?x?xf64>, %observed: tensor<?x?xi1>,
    %l2_biases: f64, %l2_factors: f64) -> f64 {
  %predictions = func.call @predict(%mean, %user_bias, %item_bias, %user_factors, %item_factors)
      : (tensor<f64>, tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x?xf64>
  %squares = func.call @squared_errors(%predictions, %ratings)
      : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %data = sparse_autograd.masked_reduce sum %squares, %observed dims = [0, 1]
      : tensor<?x?xf64>, tensor<?x?xi1> -> tensor<f64>
  %errors = tensor.extract %data[] : tensor<f64>
  %bu2 = func.call @sum_of_squares_vector(%user_bias) : (tensor<?xf64>) -> f64
  %bi2 = func.call @sum_of_squares_vector(%item_bias) : (tensor<?xf64>) -> f64
  %p2 = func.call @sum_of_squares_matrix(%user_factors) : (tensor<?x8xf64>) -> f64
  %q2 = func.call @sum_of_squares_matrix(%item_factors) : (tensor<?x8xf64>) -> f64
  %b2 = arith.addf %bu2, %bi2 : f64
  %f2 = arith.addf %p2, %q2 : f64
  %b_penalty = arith.mulf %l2_biases, %b2 : f64
  %f_penalty = arith.mulf %l2_factors, %f2 : f64
  %penalty = arith.addf %b_penalty, %f_penalty : f64
  %loss = arith.addf %errors, %penalty : f64
  return %loss : f64
}

// The root of the mean squared error over the selected ratings.
func.func private @rmse(%predictions: tensor<?x?xf64>, %ratings: tensor<?x?xf64>,
    %selected: tensor<?x?xi1>) -> f64 {
  %squares = func.call @squared_errors(%predictions, %ratings)
      : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %mean = sparse_autograd.masked_reduce mean %squares, %selected dims = [0, 1]
      : tensor<?x?xf64>, tensor<?x?xi1> -> tensor<f64>
  %value = tensor.extract %mean[] : tensor<f64>
  %rmse = math.sqrt %value : f64
  return %rmse : f64
}

// One step of Adam (Kingma and Ba, 2015): the new parameters and moments.
func.func private @adam_vector(%x: tensor<?xf64>, %g: tensor<?xf64>, %m: tensor<?xf64>, %v: tensor<?xf64>,
    %correction1: f64, %correction2: f64) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) {
  %beta1 = arith.constant 0.9 : f64
  %beta2 = arith.constant 0.999 : f64
  %rest1 = arith.constant 0.1 : f64
  %rest2 = arith.constant 0.001 : f64
  %rate = arith.constant 0.02 : f64
  %epsilon = arith.constant 1.0e-8 : f64
  %new:3 = linalg.generic {
      indexing_maps = [#vector, #vector, #vector, #vector],
      iterator_types = ["parallel"]}
      ins(%g : tensor<?xf64>) outs(%x, %m, %v : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) {
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
  } -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
  return %new#0, %new#1, %new#2 : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>
}

// The same on a matrix, as one long vector.
func.func private @adam_matrix(%x: tensor<?x8xf64>, %g: tensor<?x8xf64>, %m: tensor<?x8xf64>, %v: tensor<?x8xf64>,
    %correction1: f64, %correction2: f64) -> (tensor<?x8xf64>, tensor<?x8xf64>, tensor<?x8xf64>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x8xf64>
  %xv = tensor.collapse_shape %x [[0, 1]] : tensor<?x8xf64> into tensor<?xf64>
  %gv = tensor.collapse_shape %g [[0, 1]] : tensor<?x8xf64> into tensor<?xf64>
  %mv = tensor.collapse_shape %m [[0, 1]] : tensor<?x8xf64> into tensor<?xf64>
  %vv = tensor.collapse_shape %v [[0, 1]] : tensor<?x8xf64> into tensor<?xf64>
  %new:3 = func.call @adam_vector(%xv, %gv, %mv, %vv, %correction1, %correction2)
      : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64, f64)
      -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
  %x1 = tensor.expand_shape %new#0 [[0, 1]] output_shape [%rows, 8] : tensor<?xf64> into tensor<?x8xf64>
  %m1 = tensor.expand_shape %new#1 [[0, 1]] output_shape [%rows, 8] : tensor<?xf64> into tensor<?x8xf64>
  %v1 = tensor.expand_shape %new#2 [[0, 1]] output_shape [%rows, 8] : tensor<?xf64> into tensor<?x8xf64>
  return %x1, %m1, %v1 : tensor<?x8xf64>, tensor<?x8xf64>, tensor<?x8xf64>
}

func.func private @zeros_vector(%extent: index) -> tensor<?xf64> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty(%extent) : tensor<?xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
  return %zeros : tensor<?xf64>
}

func.func private @zeros_matrix(%extent: index) -> tensor<?x8xf64> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty(%extent) : tensor<?x8xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x8xf64>) -> tensor<?x8xf64>
  return %zeros : tensor<?x8xf64>
}

// Initial factors: normal numbers times `scale`.
func.func private @random_factors(%seed: i64, %counter: i64, %extent: index, %scale: f64) -> tensor<?x8xf64> {
  %normal = sparse_autograd.random normal %seed, %counter, [%extent] : tensor<?x8xf64>
  %empty = tensor.empty(%extent) : tensor<?x8xf64>
  %scaled = linalg.generic {
      indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%normal : tensor<?x8xf64>) outs(%empty : tensor<?x8xf64>) {
    ^bb0(%in: f64, %out: f64):
      %s = arith.mulf %in, %scale : f64
      linalg.yield %s : f64
  } -> tensor<?x8xf64>
  return %scaled : tensor<?x8xf64>
}

// Splits the observed ratings: a random fifth of them is held out.
func.func private @split(%observed: tensor<?x?xi1>, %seed: i64) -> (tensor<?x?xi1>, tensor<?x?xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %counter = arith.constant 0 : i64
  %true = arith.constant true
  %users = tensor.dim %observed, %c0 : tensor<?x?xi1>
  %items = tensor.dim %observed, %c1 : tensor<?x?xi1>
  %draw = sparse_autograd.random bernoulli %seed, %counter, [%users, %items] probability = 0.8 : tensor<?x?xi1>
  %empty = tensor.empty(%users, %items) : tensor<?x?xi1>
  %parts:2 = linalg.generic {
      indexing_maps = [#element, #element, #element, #element],
      iterator_types = ["parallel", "parallel"]}
      ins(%observed, %draw : tensor<?x?xi1>, tensor<?x?xi1>)
      outs(%empty, %empty : tensor<?x?xi1>, tensor<?x?xi1>) {
    ^bb0(%o: i1, %d: i1, %out0: i1, %out1: i1):
      %trained = arith.andi %o, %d : i1
      %rest = arith.xori %d, %true : i1
      %held_out = arith.andi %o, %rest : i1
      linalg.yield %trained, %held_out : i1, i1
  } -> (tensor<?x?xi1>, tensor<?x?xi1>)
  return %parts#0, %parts#1 : tensor<?x?xi1>, tensor<?x?xi1>
}

// Trains on the ratings that one mask selects and returns the RMSE on them and on
// those of another. `factor_scale = 0` leaves the factors at zero: biases alone.
func.func private @fit_parts(%ratings: tensor<?x?xf64>, %train: tensor<?x?xi1>, %held_out: tensor<?x?xi1>,
    %seed: i64, %epochs: index, %factor_scale: f64, %l2_biases: f64, %l2_factors: f64) -> (f64, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %counter1 = arith.constant 1 : i64
  %counter2 = arith.constant 2 : i64
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %beta1 = arith.constant 0.9 : f64
  %beta2 = arith.constant 0.999 : f64
  %users = tensor.dim %ratings, %c0 : tensor<?x?xf64>
  %items = tensor.dim %ratings, %c1 : tensor<?x?xf64>
  %mean = sparse_autograd.masked_reduce mean %ratings, %train dims = [0, 1]
      : tensor<?x?xf64>, tensor<?x?xi1> -> tensor<f64>

  %bu0 = func.call @zeros_vector(%users) : (index) -> tensor<?xf64>
  %bi0 = func.call @zeros_vector(%items) : (index) -> tensor<?xf64>
  %p0 = func.call @random_factors(%seed, %counter1, %users, %factor_scale) : (i64, i64, index, f64) -> tensor<?x8xf64>
  %q0 = func.call @random_factors(%seed, %counter2, %items, %factor_scale) : (i64, i64, index, f64) -> tensor<?x8xf64>
  %mu0 = func.call @zeros_vector(%users) : (index) -> tensor<?xf64>
  %mi0 = func.call @zeros_vector(%items) : (index) -> tensor<?xf64>
  %mp0 = func.call @zeros_matrix(%users) : (index) -> tensor<?x8xf64>
  %mq0 = func.call @zeros_matrix(%items) : (index) -> tensor<?x8xf64>
  %vu0 = func.call @zeros_vector(%users) : (index) -> tensor<?xf64>
  %vi0 = func.call @zeros_vector(%items) : (index) -> tensor<?xf64>
  %vp0 = func.call @zeros_matrix(%users) : (index) -> tensor<?x8xf64>
  %vq0 = func.call @zeros_matrix(%items) : (index) -> tensor<?x8xf64>

  %end:16 = scf.for %epoch = %c0 to %epochs step %c1
      iter_args(%bu = %bu0, %bi = %bi0, %p = %p0, %q = %q0,
                %mu = %mu0, %mi = %mi0, %mp = %mp0, %mq = %mq0,
                %vu = %vu0, %vi = %vi0, %vp = %vp0, %vq = %vq0,
                %power1 = %one, %power2 = %one, %rmse0 = %zero, %rmse1 = %zero)
      -> (tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>, tensor<?x8xf64>,
          tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>, tensor<?x8xf64>,
          tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>, tensor<?x8xf64>,
          f64, f64, f64, f64) {
    %loss, %gu, %gi, %gp, %gq = sparse_autograd.value_and_grad
        @loss(%bu, %bi, %p, %q, %mean, %ratings, %train, %l2_biases, %l2_factors) {wrt = [0, 1, 2, 3]}
        : (tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>, tensor<?x8xf64>, tensor<f64>,
           tensor<?x?xf64>, tensor<?x?xi1>, f64, f64)
        -> (f64, tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>, tensor<?x8xf64>)

    %next_power1 = arith.mulf %power1, %beta1 : f64
    %next_power2 = arith.mulf %power2, %beta2 : f64
    %correction1 = arith.subf %one, %next_power1 : f64
    %correction2 = arith.subf %one, %next_power2 : f64
    %bu1, %mu1, %vu1 = func.call @adam_vector(%bu, %gu, %mu, %vu, %correction1, %correction2)
        : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64, f64)
        -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
    %bi1, %mi1, %vi1 = func.call @adam_vector(%bi, %gi, %mi, %vi, %correction1, %correction2)
        : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64, f64)
        -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
    %p1, %mp1, %vp1 = func.call @adam_matrix(%p, %gp, %mp, %vp, %correction1, %correction2)
        : (tensor<?x8xf64>, tensor<?x8xf64>, tensor<?x8xf64>, tensor<?x8xf64>, f64, f64)
        -> (tensor<?x8xf64>, tensor<?x8xf64>, tensor<?x8xf64>)
    %q1, %mq1, %vq1 = func.call @adam_matrix(%q, %gq, %mq, %vq, %correction1, %correction2)
        : (tensor<?x8xf64>, tensor<?x8xf64>, tensor<?x8xf64>, tensor<?x8xf64>, f64, f64)
        -> (tensor<?x8xf64>, tensor<?x8xf64>, tensor<?x8xf64>)

    %predictions = func.call @predict(%mean, %bu1, %bi1, %p1, %q1)
        : (tensor<f64>, tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x?xf64>
    %train_rmse = func.call @rmse(%predictions, %ratings, %train)
        : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xi1>) -> f64
    %held_out_rmse = func.call @rmse(%predictions, %ratings, %held_out)
        : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xi1>) -> f64
    %number = arith.addi %epoch, %c1 : index
    sparse_autograd.log "epoch" %number, "loss" %loss, "train RMSE" %train_rmse, "held-out RMSE" %held_out_rmse
        : index, f64, f64, f64
    scf.yield %bu1, %bi1, %p1, %q1, %mu1, %mi1, %mp1, %mq1, %vu1, %vi1, %vp1, %vq1,
        %next_power1, %next_power2, %train_rmse, %held_out_rmse
        : tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>, tensor<?x8xf64>,
          tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>, tensor<?x8xf64>,
          tensor<?xf64>, tensor<?xf64>, tensor<?x8xf64>, tensor<?x8xf64>, f64, f64, f64, f64
  }
  return %end#14, %end#15 : f64, f64
}

// Trains on a random 80% of the observed ratings and returns the RMSE on them
// and on the rest.
func.func @fit(
    %ratings: tensor<?x?xf64> {sparse_autograd.name = "ratings"},
    %observed: tensor<?x?xi1> {sparse_autograd.name = "observed", sparse_autograd.mask_of = "ratings"},
    %seed: i64 {sparse_autograd.name = "seed"},
    %epochs: index {sparse_autograd.name = "epochs"},
    %factor_scale: f64 {sparse_autograd.name = "factor_scale"},
    %l2_biases: f64 {sparse_autograd.name = "l2_biases"},
    %l2_factors: f64 {sparse_autograd.name = "l2_factors"})
    -> (f64 {sparse_autograd.name = "train_rmse"}, f64 {sparse_autograd.name = "held_out_rmse"}) {
  %train, %held_out = func.call @split(%observed, %seed)
      : (tensor<?x?xi1>, i64) -> (tensor<?x?xi1>, tensor<?x?xi1>)
  %rmse:2 = func.call @fit_parts(%ratings, %train, %held_out, %seed, %epochs, %factor_scale, %l2_biases, %l2_factors)
      : (tensor<?x?xf64>, tensor<?x?xi1>, tensor<?x?xi1>, i64, index, f64, f64, f64) -> (f64, f64)
  return %rmse#0, %rmse#1 : f64, f64
}

// Ratings from a file: 300 epochs, L2 of 5 on biases and 12 on factors.
func.func @train(
    %ratings: tensor<?x?xf64> {sparse_autograd.name = "ratings"},
    %observed: tensor<?x?xi1> {sparse_autograd.name = "observed", sparse_autograd.mask_of = "ratings"},
    %seed: i64 {sparse_autograd.name = "seed"},
    %factor_scale: f64 {sparse_autograd.name = "factor_scale", sparse_autograd.default = 0.1 : f64})
    -> (f64 {sparse_autograd.name = "train_rmse"}, f64 {sparse_autograd.name = "held_out_rmse"}) {
  %epochs = arith.constant 300 : index
  %l2_biases = arith.constant 5.0 : f64
  %l2_factors = arith.constant 12.0 : f64
  %rmse:2 = func.call @fit(%ratings, %observed, %seed, %epochs, %factor_scale, %l2_biases, %l2_factors)
      : (tensor<?x?xf64>, tensor<?x?xi1>, i64, index, f64, f64, f64) -> (f64, f64)
  return %rmse#0, %rmse#1 : f64, f64
}

// The same on a split that is given: the ratings to train on and those to predict
// are two files with the same users and items. A rating in both is trained on.
func.func @train_test(
    %train_ratings: tensor<?x?xf64> {sparse_autograd.name = "train"},
    %train: tensor<?x?xi1> {sparse_autograd.name = "train_mask", sparse_autograd.mask_of = "train"},
    %test_ratings: tensor<?x?xf64> {sparse_autograd.name = "test"},
    %test: tensor<?x?xi1> {sparse_autograd.name = "test_mask", sparse_autograd.mask_of = "test"},
    %seed: i64 {sparse_autograd.name = "seed"},
    %factor_scale: f64 {sparse_autograd.name = "factor_scale", sparse_autograd.default = 0.1 : f64},
    %epochs: index {sparse_autograd.name = "epochs", sparse_autograd.default = 300 : index})
    -> (f64 {sparse_autograd.name = "train_rmse"}, f64 {sparse_autograd.name = "test_rmse"}) {
  %l2_biases = arith.constant 5.0 : f64
  %l2_factors = arith.constant 12.0 : f64
  %true = arith.constant true
  %ratings = arith.select %train, %train_ratings, %test_ratings : tensor<?x?xi1>, tensor<?x?xf64>
  %rest = linalg.generic {
      indexing_maps = [#element, #element, #element],
      iterator_types = ["parallel", "parallel"]}
      ins(%test, %train : tensor<?x?xi1>, tensor<?x?xi1>)
      outs(%test : tensor<?x?xi1>) {
    ^bb0(%in_test: i1, %in_train: i1, %out: i1):
      %not_trained = arith.xori %in_train, %true : i1
      %held_out = arith.andi %in_test, %not_trained : i1
      linalg.yield %held_out : i1
  } -> tensor<?x?xi1>
  %rmse:2 = func.call @fit_parts(%ratings, %train, %rest, %seed, %epochs, %factor_scale, %l2_biases, %l2_factors)
      : (tensor<?x?xf64>, tensor<?x?xi1>, tensor<?x?xi1>, i64, index, f64, f64, f64) -> (f64, f64)
  return %rmse#0, %rmse#1 : f64, f64
}

// Ratings of 400 users for 500 items from a planted model of rank 4 with noise
// of standard deviation 0.25; two fifths of them are observed.
func.func private @planted_ratings(%seed: i64) -> (tensor<?x?xf64>, tensor<?x?xi1>) {
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
  %products = linalg.generic {
      indexing_maps = [#users_by_factors, #items_by_factors, #users_by_items],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %q : tensor<400x4xf64>, tensor<500x4xf64>) outs(%zeros : tensor<400x500xf64>) {
    ^bb0(%pk: f64, %qk: f64, %sum: f64):
      %product = arith.mulf %pk, %qk : f64
      %next = arith.addf %sum, %product : f64
      linalg.yield %next : f64
  } -> tensor<400x500xf64>
  %ratings = linalg.generic {
      indexing_maps = [#element, #row, #column, #element, #element],
      iterator_types = ["parallel", "parallel"]}
      ins(%products, %bu, %bi, %e
          : tensor<400x500xf64>, tensor<400xf64>, tensor<500xf64>, tensor<400x500xf64>)
      outs(%empty : tensor<400x500xf64>) {
    ^bb0(%product: f64, %u: f64, %i: f64, %n: f64, %out: f64):
      %biases = arith.addf %u, %i : f64
      %signal = arith.addf %biases, %product : f64
      %scaled = arith.mulf %strength, %signal : f64
      %error = arith.mulf %noise, %n : f64
      %based = arith.addf %center, %scaled : f64
      %rating = arith.addf %based, %error : f64
      linalg.yield %rating : f64
  } -> tensor<400x500xf64>
  %ratings_cast = tensor.cast %ratings : tensor<400x500xf64> to tensor<?x?xf64>
  %observed_cast = tensor.cast %o : tensor<400x500xi1> to tensor<?x?xi1>
  return %ratings_cast, %observed_cast : tensor<?x?xf64>, tensor<?x?xi1>
}

// Trains on planted ratings: 200 epochs, L2 of 0.25 on biases and 2 on factors.
func.func @planted(%seed: i64 {sparse_autograd.name = "seed"},
                   %factor_scale: f64 {sparse_autograd.name = "factor_scale", sparse_autograd.default = 0.1 : f64})
    -> (f64 {sparse_autograd.name = "train_rmse"}, f64 {sparse_autograd.name = "held_out_rmse"}) {
  %epochs = arith.constant 200 : index
  %l2_biases = arith.constant 0.25 : f64
  %l2_factors = arith.constant 2.0 : f64
  %ratings, %observed = func.call @planted_ratings(%seed) : (i64) -> (tensor<?x?xf64>, tensor<?x?xi1>)
  %rmse:2 = func.call @fit(%ratings, %observed, %seed, %epochs, %factor_scale, %l2_biases, %l2_factors)
      : (tensor<?x?xf64>, tensor<?x?xi1>, i64, index, f64, f64, f64) -> (f64, f64)
  return %rmse#0, %rmse#1 : f64, f64
}
