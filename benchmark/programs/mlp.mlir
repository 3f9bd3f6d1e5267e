// A step of gradient descent of a network of four layers: the mean squared
// error, and the weights and biases less a hundredth of its gradient.

#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> ()>

func.func private @linear(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %w, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%zeros : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%empty : tensor<?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func private @relu(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%x : tensor<?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %a, %zero : f32
    %v = arith.select %positive, %a, %zero : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func private @loss(%x: tensor<?x?xf32>, %t: tensor<?x?xf32>,
    %w1: tensor<?x?xf32>, %b1: tensor<?xf32>, %w2: tensor<?x?xf32>, %b2: tensor<?xf32>,
    %w3: tensor<?x?xf32>, %b3: tensor<?xf32>, %w4: tensor<?x?xf32>, %b4: tensor<?xf32>) -> tensor<f32> {
  %p1 = call @linear(%x, %w1, %b1) : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %h1 = call @relu(%p1) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %p2 = call @linear(%h1, %w2, %b2) : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %h2 = call @relu(%p2) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %p3 = call @linear(%h2, %w3, %b3) : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %h3 = call @relu(%p3) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = call @linear(%h3, %w4, %b4) : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %e = arith.subf %y, %t : tensor<?x?xf32>
  %s = arith.mulf %e, %e : tensor<?x?xf32>
  %mean = sparse_autograd.masked_reduce mean %s dims = [0, 1] : tensor<?x?xf32> -> tensor<f32>
  return %mean : tensor<f32>
}

func.func private @less(%w: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%w, %g : tensor<?x?xf32>, tensor<?x?xf32>) outs(%w : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %rate = arith.constant 1.0e-2 : f32
    %p = arith.mulf %b, %rate : f32
    %v = arith.subf %a, %p : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func private @less_vector(%w: tensor<?xf32>, %g: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%w, %g : tensor<?xf32>, tensor<?xf32>) outs(%w : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %rate = arith.constant 1.0e-2 : f32
    %p = arith.mulf %b, %rate : f32
    %v = arith.subf %a, %p : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @main(%x: tensor<?x?xf32>, %t: tensor<?x?xf32>,
    %w1: tensor<?x?xf32>, %b1: tensor<?xf32>, %w2: tensor<?x?xf32>, %b2: tensor<?xf32>,
    %w3: tensor<?x?xf32>, %b3: tensor<?xf32>, %w4: tensor<?x?xf32>, %b4: tensor<?xf32>)
    -> (tensor<f32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?xf32>,
        tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?xf32>) {
  %r:9 = sparse_autograd.value_and_grad @loss(%x, %t, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4)
      {wrt = [2, 3, 4, 5, 6, 7, 8, 9]}
      : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?xf32>,
         tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?xf32>)
      -> (tensor<f32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?xf32>,
          tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?xf32>)
  %v1 = call @less(%w1, %r#1) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %c1 = call @less_vector(%b1, %r#2) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v2 = call @less(%w2, %r#3) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %c2 = call @less_vector(%b2, %r#4) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v3 = call @less(%w3, %r#5) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %c3 = call @less_vector(%b3, %r#6) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %v4 = call @less(%w4, %r#7) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %c4 = call @less_vector(%b4, %r#8) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r#0, %v1, %c1, %v2, %c2, %v3, %c3, %v4, %c4
      : tensor<f32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?xf32>,
        tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?xf32>
}
