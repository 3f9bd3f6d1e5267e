// RUN: sparse-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'dims' lists dimension 2 of 'tensor<4x8xf32>', which has rank 2}}
  %0 = sparse_autograd.masked_reduce sum %x dims = [2] : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'dims' lists dimension 1 twice}}
  %0 = sparse_autograd.masked_reduce sum %x dims = [1, 1] : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{reduces to 'tensor<4xf32>', but its result is 'tensor<8xf32>'}}
  %0 = sparse_autograd.masked_reduce sum %x dims = [1] : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'ddof' is for var and std, not for sum}}
  %0 = sparse_autograd.masked_reduce sum %x dims = [1] ddof = 1 : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'ties' is for max and min, not for sum}}
  %0 = sparse_autograd.masked_reduce sum %x dims = [1] ties = first : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'empty' is for mean, not for max}}
  %0 = sparse_autograd.masked_reduce max %x dims = [1] empty = nan : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %m: tensor<4xi1>) {
  // expected-error@+1 {{the mask 'tensor<4xi1>' must have one dimension for each of the 2 dimensions of 'tensor<4x8xf32>' that it ranges over; list them in 'mask_dims'}}
  %0 = sparse_autograd.masked_reduce sum %x, %m dims = [1] : tensor<4x8xf32>, tensor<4xi1> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %m: tensor<4x1xi1>) {
  // expected-error@+1 {{dimension 1 of the mask has extent 1, dimension 1 of the masked operand has extent 8; masks are not broadcast, list the dimensions that the mask ranges over in 'mask_dims'}}
  %0 = sparse_autograd.masked_softmax %x, %m dims = [1] : tensor<4x8xf32>, tensor<4x1xi1>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %m: tensor<4xi1>) {
  // expected-error@+1 {{'mask_dims' lists dimension 2 of 'tensor<4x8xf32>'; it must be in 0 to 1}}
  %0 = sparse_autograd.grad_mask %x, %m mask_dims = [2] : tensor<4x8xf32>, tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %m: tensor<4x4xi1>) {
  // expected-error@+1 {{'mask_dims' lists dimension 0 twice}}
  %0 = sparse_autograd.grad_mask %x, %m mask_dims = [0, 0] : tensor<4x8xf32>, tensor<4x4xi1>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{has 'mask_dims' but no mask; drop the attribute, or give a mask}}
  %0 = sparse_autograd.masked_log_softmax %x dims = [1] mask_dims = [0] : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values}}
  %0 = "sparse_autograd.masked_reduce"(%x) {kind = #sparse_autograd<kind sum>, dims = array<i64: 1>} : (tensor<4x8xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%seed: i64) {
  // expected-error@+1 {{has 0 extents for the 1 dynamic dimensions of 'tensor<?xf32>'}}
  %0 = sparse_autograd.random normal %seed, %seed : tensor<?xf32>
  return
}

// -----

func.func @f(%seed: i64) {
  // expected-error@+1 {{bernoulli makes elements of i1, not 'f32'}}
  %0 = sparse_autograd.random bernoulli %seed, %seed probability = 0.5 : tensor<4xf32>
  return
}

// -----

func.func @f(%seed: i64) {
  // expected-error@+1 {{only bernoulli makes elements of 'i1'}}
  %0 = sparse_autograd.random uniform %seed, %seed : tensor<4xi1>
  return
}

// -----

func.func @f(%seed: i64) {
  // expected-error@+1 {{bernoulli needs a 'probability'}}
  %0 = sparse_autograd.random bernoulli %seed, %seed : tensor<4xi1>
  return
}

// -----

func.func @f(%seed: i64) {
  // expected-error@+1 {{'probability' is for bernoulli}}
  %0 = sparse_autograd.random uniform %seed, %seed probability = 0.5 : tensor<4xf32>
  return
}

// -----

func.func @f(%seed: i64) {
  // expected-error@+1 {{'probability' must be in [0, 1]}}
  %0 = sparse_autograd.random bernoulli %seed, %seed probability = 1.5 : tensor<4xi1>
  return
}

// -----

func.func @f(%x: f64) {
  // expected-error@+1 {{has 2 names for 1 values}}
  "sparse_autograd.log"(%x) {names = ["a", "b"]} : (f64) -> ()
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{has nothing to report}}
  "sparse_autograd.log"() {names = []} : () -> ()
  return
}

// -----

func.func @f(%x: i128) {
  // expected-error@+1 {{reports integers of at most 64 bits, not 'i128'}}
  sparse_autograd.log "a" %x : i128
  return
}

// -----

func.func @f(%x: f64) {
  // expected-error@+1 {{'g' is not a function of this module}}
  %0:2 = sparse_autograd.value_and_grad @g(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return
}

// -----

func.func private @g(f64, i32, complex<f64>, memref<f64>) -> f64
func.func @f(%x: f64, %n: i32, %z: complex<f64>, %m: memref<f64>) {
  // expected-error@+1 {{passes 1 arguments to 'g', which takes 4}}
  %0:2 = sparse_autograd.value_and_grad @g(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return
}

// -----

func.func private @g(f64) -> f64
func.func @f(%x: f32) {
  // expected-error@+1 {{passes 'f32' as argument 0 of 'g', which takes 'f64'}}
  %0:2 = sparse_autograd.value_and_grad @g(%x) {wrt = [0]} : (f32) -> (f64, f64)
  return
}

// -----

func.func private @g(f64) -> f64
func.func @f(%x: f64) {
  // expected-error@+1 {{'wrt' lists no argument}}
  %0 = sparse_autograd.value_and_grad @g(%x) {wrt = []} : (f64) -> f64
  return
}

// -----

func.func private @g(f64) -> f64
func.func @f(%x: f64) {
  // expected-error@+1 {{'wrt' lists argument 1 of 'g', which takes 1}}
  %0:2 = sparse_autograd.value_and_grad @g(%x) {wrt = [1]} : (f64) -> (f64, f64)
  return
}

// -----

func.func private @g(f64) -> f64
func.func @f(%x: f64) {
  // expected-error@+1 {{'wrt' lists argument 0 twice}}
  %0:3 = sparse_autograd.value_and_grad @g(%x) {wrt = [0, 0]} : (f64) -> (f64, f64, f64)
  return
}

// -----

func.func private @g(i32) -> f64
func.func @f(%n: i32) {
  // expected-error@+1 {{'wrt' lists argument 0 of type 'i32'; only floats and tensors of floats are differentiable}}
  %0:2 = sparse_autograd.value_and_grad @g(%n) {wrt = [0]} : (i32) -> (f64, i32)
  return
}

// -----

func.func private @g(complex<f64>) -> f64
func.func @f(%z: complex<f64>) {
  // expected-error@+1 {{complex numbers are not differentiated, split them into real and imaginary parts}}
  %0:2 = sparse_autograd.value_and_grad @g(%z) {wrt = [0]} : (complex<f64>) -> (f64, complex<f64>)
  return
}

// -----

func.func private @g(memref<f64>) -> f64
func.func @f(%m: memref<f64>) {
  // expected-error@+1 {{memory is not differentiated, pass a tensor}}
  %0:2 = sparse_autograd.value_and_grad @g(%m) {wrt = [0]} : (memref<f64>) -> (f64, memref<f64>)
  return
}

// -----

func.func private @g(tensor<4xf64>) -> tensor<4xf64>
func.func @f(%x: tensor<4xf64>) {
  // expected-error@+1 {{the first result of 'g' is the loss: it must be a float or a tensor of rank 0, not 'tensor<4xf64>'; use vjp for other results}}
  %0:2 = sparse_autograd.value_and_grad @g(%x) {wrt = [0]} : (tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  return
}

// -----

func.func private @g(f64) -> f64
func.func @f(%x: f64) {
  // expected-error@+1 {{needs the results ('f64', 'f64'), not ('f64')}}
  %0 = sparse_autograd.value_and_grad @g(%x) {wrt = [0]} : (f64) -> f64
  return
}

// -----

func.func private @g(f64) -> f64
func.func @f(%x: f64, %c: f32) {
  // expected-error@+1 {{needs the cotangents ('f64'), not ('f32')}}
  %0:2 = sparse_autograd.vjp @g(%x) cotangents(%c) {wrt = [0]} : (f64), (f32) -> (f64, f64)
  return
}

// -----

func.func private @g(f64) -> f64
func.func @f(%x: f64, %t: f32) {
  // expected-error@+1 {{needs the tangents ('f64'), not ('f32')}}
  %0:2 = sparse_autograd.jvp @g(%x) tangents(%t) {wrt = [0]} : (f64), (f32) -> (f64, f64)
  return
}

// -----

// expected-error@+1 {{'sparse_autograd.name' must be a string that is not empty}}
func.func private @f(f64 {sparse_autograd.name = ""})

// -----

// expected-error@+1 {{argument 0 has 'sparse_autograd.mask_of', so it must be a tensor of i1}}
func.func private @f(f64 {sparse_autograd.mask_of = "x"})

// -----

// expected-error@+1 {{argument 0 is the mask of 'x', but no argument has that 'sparse_autograd.name'}}
func.func private @f(tensor<4xi1> {sparse_autograd.mask_of = "x"})

// -----

// expected-error@+1 {{argument 1 is the mask of 'x', which has another shape}}
func.func private @f(tensor<5xf64> {sparse_autograd.name = "x"}, tensor<4xi1> {sparse_autograd.mask_of = "x"})

// -----

// expected-error@+1 {{unknown attribute 'sparse_autograd.nmae' on an argument}}
func.func private @f(f64 {sparse_autograd.nmae = "x"})

// -----

// expected-error@+1 {{'sparse_autograd.default' must be a number of the type of its argument}}
func.func private @f(f64 {sparse_autograd.default = 1.0 : f32})

// -----

// expected-error@+1 {{'sparse_autograd.default' must be a number of the type of its argument}}
func.func private @f(tensor<2xf64> {sparse_autograd.default = dense<1.0> : tensor<2xf64>})

// -----

// expected-error@+1 {{'sparse_autograd.default' must be a number of the type of its argument}}
func.func private @f(index {sparse_autograd.default = "many"})

// -----

// expected-error@+1 {{'sparse_autograd.nnz' must be a number of elements}}
func.func private @f(tensor<4x4xf64> {sparse_autograd.nnz = -1 : i64})

// -----

// expected-error@+1 {{'sparse_autograd.nnz' must be a number of elements}}
func.func private @f(tensor<4x4xf64> {sparse_autograd.nnz = "many"})

// -----

// expected-error@+1 {{'sparse_autograd.any_format' must be a unit attribute of a sparse tensor}}
func.func private @f(tensor<4x4xf64> {sparse_autograd.any_format})

// -----

// expected-error@+1 {{'sparse_autograd.any_format' must be a unit attribute of a sparse tensor}}
func.func private @f() -> (tensor<4x4xf64> {sparse_autograd.any_format})

// -----

// expected-error@+1 {{unknown attribute 'sparse_autograd.nmae' on a result}}
func.func private @f() -> (f64 {sparse_autograd.nmae = "x"})

// -----

func.func @h(%x: f64, %n: i32) {
  // expected-error@+1 {{'nowhere' is not a function of this module}}
  %0:2 = sparse_autograd.checkpoint @nowhere(%x, %n) : (f64, i32) -> (f64, i32)
  return
}

// -----

func.func private @f(f64, i32) -> (f64, i32)
func.func @h(%x: f64, %n: i32) {
  // expected-error@+1 {{passes 1 arguments to 'f', which takes 2}}
  %0:2 = sparse_autograd.checkpoint @f(%x) : (f64) -> (f64, i32)
  return
}

// -----

func.func private @f(f64, i32) -> (f64, i32)
func.func @h(%x: f64, %n: i32) {
  // expected-error@+1 {{needs the results ('f64', 'i32'), not ('f64')}}
  %0 = sparse_autograd.checkpoint @f(%x, %n) : (f64, i32) -> f64
  return
}

// -----

func.func private @f(f64, i32) -> (f64, i32)
func.func private @fw(f64, i32) -> (f64, i32, tensor<4xf64>)
func.func private @bw(tensor<4xf64>, f64) -> f64
func.func @h(%x: f64, %n: i32) {
  // expected-error@+1 {{'nowhere' is not a function of this module}}
  %0:2 = sparse_autograd.custom_vjp @f(%x, %n) forward(@nowhere) backward(@bw) : (f64, i32) -> (f64, i32)
  return
}

// -----

func.func private @f(f64, i32) -> (f64, i32)
func.func private @fw(f64, i32) -> (f64, i32, tensor<4xf64>)
func.func private @bw(tensor<4xf64>, f64) -> f64
func.func @h(%x: f64, %n: i32) {
  // expected-error@+1 {{'nowhere' is not a function of this module}}
  %0:2 = sparse_autograd.custom_vjp @f(%x, %n) forward(@fw) backward(@nowhere) : (f64, i32) -> (f64, i32)
  return
}

// -----

func.func private @f(f64, i32) -> (f64, i32)
func.func private @fw(f64, i32) -> (f64, i32, tensor<4xf64>)
func.func private @bw(tensor<4xf64>, f64) -> f64
func.func @h(%x: f64, %n: i32) {
  // expected-error@+1 {{needs the results ('f64', 'i32'), not ('f64')}}
  %0 = sparse_autograd.custom_vjp @f(%x, %n) forward(@fw) backward(@bw) : (f64, i32) -> f64
  return
}

// -----

func.func private @f(f64, i32) -> (f64, i32)
func.func private @fw(f64, i32) -> (f64, i32, tensor<4xf64>)
func.func private @bw(tensor<4xf64>, f64) -> f64
func.func @h(%x: f64, %n: i32) {
  // expected-error@+1 {{needs 'bw' of type '(f64, i32) -> (f64, i32)', not '(tensor<4xf64>, f64) -> f64': it takes the arguments of the callee and returns its results, then the residuals}}
  %0:2 = sparse_autograd.custom_vjp @f(%x, %n) forward(@bw) backward(@bw) : (f64, i32) -> (f64, i32)
  return
}

// -----

func.func private @f(f64, i32) -> (f64, i32)
func.func private @short(f64, i32) -> f64
func.func private @bw(tensor<4xf64>, f64) -> f64
func.func @h(%x: f64, %n: i32) {
  // expected-error@+1 {{needs 'short' of type '(f64, i32) -> (f64, i32)', not '(f64, i32) -> f64': it takes the arguments of the callee}}
  %0:2 = sparse_autograd.custom_vjp @f(%x, %n) forward(@short) backward(@bw) : (f64, i32) -> (f64, i32)
  return
}

// -----

func.func private @f(f64, i32) -> (f64, i32)
func.func private @fw(f64, i32) -> (f64, i32, tensor<4xf64>)
func.func private @wrong(tensor<4xf64>) -> f64
func.func @h(%x: f64, %n: i32) {
  // expected-error@+1 {{needs 'wrong' of type '(tensor<4xf64>, f64) -> f64', not '(tensor<4xf64>) -> f64': it takes the residuals and a cotangent for each floating result, and returns a gradient for each floating argument}}
  %0:2 = sparse_autograd.custom_vjp @f(%x, %n) forward(@fw) backward(@wrong) : (f64, i32) -> (f64, i32)
  return
}

// -----

func.func private @l(f64, f64) -> f64
func.func @h(%x: f64, %n: i32) {
  // expected-error@+1 {{'wrt' lists no argument}}
  %0 = sparse_autograd.linear_transpose @l(%x, %x) cotangents(%x) {wrt = []} : (f64, f64), (f64) -> (f64)
  return
}

// -----

func.func private @l(f64, f64) -> f64
func.func @h(%x: f64, %n: i32) {
  // expected-error@+1 {{needs the cotangents ('f64'), not ('i32')}}
  %0 = sparse_autograd.linear_transpose @l(%x, %x) cotangents(%n) {wrt = [1]} : (f64, f64), (i32) -> (f64)
  return
}

// -----

func.func private @l(f64, f64) -> f64
func.func @h(%x: f64, %n: i32) {
  // expected-error@+1 {{needs the results ('f64'), not ('f64', 'f64')}}
  %0:2 = sparse_autograd.linear_transpose @l(%x, %x) cotangents(%x) {wrt = [1]} : (f64, f64), (f64) -> (f64, f64)
  return
}

// -----

func.func private @k(f64, f64) -> i32
func.func @h(%x: f64, %n: i32) {
  // expected-error@+1 {{'k' returns 'i32'; a linear function returns floats and tensors of floats only}}
  %0 = sparse_autograd.linear_transpose @k(%x, %x) cotangents(%n) {wrt = [1]} : (f64, f64), (i32) -> (f64)
  return
}

// -----

// expected-error@+1 {{'nowhere' is not a function of this module}}
sparse_autograd.split_vjp @nowhere as @a, @b {wrt = [0]}

// -----

func.func private @g(f64, i32) -> (f64, i32)
// expected-error@+1 {{'wrt' lists argument 1 of type 'i32'; only floats and tensors of floats are differentiable}}
sparse_autograd.split_vjp @g as @a, @b {wrt = [1]}

// -----

func.func private @g(f64, i32) -> (f64, i32)
// expected-error@+1 {{defines 'a' twice}}
sparse_autograd.split_vjp @g as @a, @a {wrt = [0]}

// -----

func.func private @g(f64, i32) -> (f64, i32)
func.func private @a(%x: f64) {
  return
}
// expected-error@+1 {{defines 'a', which is defined already}}
sparse_autograd.split_vjp @g as @a, @b {wrt = [0]}

// -----

func.func private @g(f64, i32) -> (f64, i32)
func.func private @a(f64, i32) -> f64
// expected-error@+1 {{defines 'a' of type '(f64, i32) -> (f64, i32, !sparse_autograd.residuals<@a>)', which is declared as '(f64, i32) -> f64'}}
sparse_autograd.split_vjp @g as @a, @b {wrt = [0]}

// -----

func.func private @g(f64, i32) -> (f64, i32)
func.func private @b(!sparse_autograd.residuals<@b>, f64) -> f64
// expected-error@+1 {{defines 'b' of type '(!sparse_autograd.residuals<@a>, f64) -> f64', which is declared as '(!sparse_autograd.residuals<@b>, f64) -> f64'}}
sparse_autograd.split_vjp @g as @a, @b {wrt = [0]}

// -----

func.func private @g(f64) -> f64
func.func @h() {
  // expected-error@+1 {{expects parent op 'builtin.module'}}
  sparse_autograd.split_vjp @g as @a, @b {wrt = [0]}
  return
}
