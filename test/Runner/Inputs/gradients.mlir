#vector = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>

// Several arguments and results, integers and a mask among them.
func.func @smooth(%x: tensor<2x3xf64> {sparse_autograd.name = "x"},
                  %mask: tensor<2x3xi1> {sparse_autograd.name = "mask", sparse_autograd.mask_of = "x"},
                  %n: i64 {sparse_autograd.name = "n"},
                  %w: f64 {sparse_autograd.name = "w"})
    -> (tensor<2xf64> {sparse_autograd.name = "lse"}, i64, f64 {sparse_autograd.name = "loss"}) {
  %lse = sparse_autograd.masked_reduce logsumexp %x, %mask dims = [1]
      : tensor<2x3xf64>, tensor<2x3xi1> -> tensor<2xf64>
  %sum = sparse_autograd.masked_reduce sum %lse dims = [0] : tensor<2xf64> -> tensor<f64>
  %value = tensor.extract %sum[] : tensor<f64>
  %power = arith.sitofp %n : i64 to f64
  %raised = math.powf %w, %power : f64
  %loss = arith.mulf %value, %raised : f64
  return %lse, %n, %loss : tensor<2xf64>, i64, f64
}

// The gradient of a private loss, which is checked as well as the loss.
func.func private @loss(%x: f32, %w: f32) -> f32 {
  %y = math.tanh %x : f32
  %z = arith.mulf %y, %w : f32
  return %z : f32
}
func.func @gradient(%x: f32, %w: f32) -> (f32, f32) {
  %value, %dx = sparse_autograd.value_and_grad @loss(%x, %w) {wrt = [0]} : (f32, f32) -> (f32, f32)
  return %value, %dx : f32, f32
}

// Half of the gradient is stopped: 1 instead of 2.
func.func @stopped(%x: f64 {sparse_autograd.name = "x"}) -> (f64 {sparse_autograd.name = "y"}) {
  %stopped = sparse_autograd.stop_gradient %x : f64
  %y = arith.addf %x, %stopped : f64
  return %y : f64
}

// One of a hundred elements has its gradient masked.
func.func @masked(%x: tensor<100xf64> {sparse_autograd.name = "x"},
                  %mask: tensor<100xi1> {sparse_autograd.name = "mask"})
    -> (tensor<f64> {sparse_autograd.name = "y"}) {
  %hooked = sparse_autograd.grad_mask %x, %mask : tensor<100xf64>, tensor<100xi1>
  %e = math.exp %hooked : tensor<100xf64>
  %y = sparse_autograd.masked_reduce sum %e dims = [0] : tensor<100xf64> -> tensor<f64>
  return %y : tensor<f64>
}

// A kink at 0.
func.func @relu(%x: tensor<?xf64> {sparse_autograd.name = "x"}) -> (tensor<?xf64> {sparse_autograd.name = "y"}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %empty = tensor.empty(%n) : tensor<?xf64>
  %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf64>) outs(%empty : tensor<?xf64>) {
    ^bb0(%v: f64, %o: f64):
      %positive = arith.cmpf ogt, %v, %zero : f64
      %r = arith.select %positive, %v, %zero : f64
      linalg.yield %r : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// A kink whose derivative is neither of the one-sided ones nor between them.
func.func @wrong_kink(%x: f64 {sparse_autograd.name = "x"}) -> (f64 {sparse_autograd.name = "y"}) {
  %two = arith.constant 2.0 : f64
  %abs = math.absf %x : f64
  %stopped = sparse_autograd.stop_gradient %x : f64
  %twice = arith.mulf %two, %stopped : f64
  %y = arith.addf %abs, %twice : f64
  return %y : f64
}

// A step at every whole number.
func.func @step(%x: f64 {sparse_autograd.name = "x"}) -> (f64 {sparse_autograd.name = "y"}) {
  %floor = math.floor %x : f64
  %y = arith.addf %floor, %x : f64
  return %y : f64
}

// Defined for positive arguments.
func.func @log(%x: tensor<3xf64> {sparse_autograd.name = "x"}) -> (tensor<3xf64> {sparse_autograd.name = "y"}) {
  %y = math.log %x : tensor<3xf64>
  return %y : tensor<3xf64>
}

// The derivative drowns in the rounding of the result: of f32, but not in f64,
// and in f64.
func.func @drowned(%x: f32 {sparse_autograd.name = "x"}) -> (f32 {sparse_autograd.name = "y"}) {
  %large = arith.constant 1.0e+10 : f32
  %y = arith.addf %x, %large : f32
  return %y : f32
}
func.func @drowned_in_f64(%x: f64 {sparse_autograd.name = "x"}) -> (f64 {sparse_autograd.name = "y"}) {
  %large = arith.constant 1.0e+20 : f64
  %y = arith.addf %x, %large : f64
  return %y : f64
}

// A function that has no f64 form: it takes a float apart, and so does its rule.
func.func private @size(%x: f32) -> f32 {
  %bits = llvm.bitcast %x : f32 to i32
  %sign = arith.constant 0x7FFFFFFF : i32
  %size = arith.andi %bits, %sign : i32
  %y = llvm.bitcast %size : i32 to f32
  return %y : f32
}
func.func private @size_forward(%x: f32) -> (f32, f32) {
  %y = math.absf %x : f32
  return %y, %x : f32, f32
}
func.func private @size_backward(%x: f32, %dy: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %sign = math.copysign %one, %x : f32
  %dx = arith.mulf %sign, %dy : f32
  return %dx : f32
}
func.func @own_types(%x: f32 {sparse_autograd.name = "x"}) -> (f32 {sparse_autograd.name = "y"}) {
  %y = sparse_autograd.custom_vjp @size(%x) forward(@size_forward) backward(@size_backward) : (f32) -> f32
  return %y : f32
}

// In f32 the sum is 2^24, and in f64 it is more.
func.func @other_branch(%x: f32 {sparse_autograd.name = "x"}) -> (f32 {sparse_autograd.name = "y"}) {
  %large = arith.constant 16777216.0 : f32
  %two = arith.constant 2.0 : f32
  %half = arith.constant 0.5 : f32
  %sum = arith.addf %half, %large : f32
  %isMore = arith.cmpf ogt, %sum, %large : f32
  %factor = arith.select %isMore, %two, %half : f32
  %other = arith.addf %factor, %half : f32
  %y = arith.mulf %x, %other : f32
  return %y : f32
}

func.func @half(%x: tensor<4xf16> {sparse_autograd.name = "x"}, %b: tensor<4xbf16> {sparse_autograd.name = "b"})
    -> (tensor<4xf16> {sparse_autograd.name = "y"}, tensor<4xbf16> {sparse_autograd.name = "z"}) {
  %y = math.sin %x : tensor<4xf16>
  %z = arith.mulf %b, %b : tensor<4xbf16>
  return %y, %z : tensor<4xf16>, tensor<4xbf16>
}

func.func @integers(%n: i64) -> f64 {
  %x = arith.sitofp %n : i64 to f64
  return %x : f64
}
func.func @nothing(%x: f64) -> i64 {
  %n = arith.fptosi %x : f64 to i64
  return %n : i64
}

// Fails at run time.
func.func @extents(%x: tensor<?xf64> {sparse_autograd.name = "x"}, %y: tensor<?xf64> {sparse_autograd.name = "y"}) -> tensor<?xf64> {
  %z = arith.addf %x, %y : tensor<?xf64>
  return %z : tensor<?xf64>
}

// A user's own rule, wrong by a factor of two.
func.func private @square(%x: f64) -> f64 {
  %y = arith.mulf %x, %x : f64
  return %y : f64
}
func.func private @square_forward(%x: f64) -> (f64, f64) {
  %y = arith.mulf %x, %x : f64
  return %y, %x : f64, f64
}
func.func private @square_backward(%x: f64, %dy: f64) -> f64 {
  %dx = arith.mulf %x, %dy : f64
  return %dx : f64
}
func.func @wrong_rule(%x: f64 {sparse_autograd.name = "x"}) -> (f64 {sparse_autograd.name = "y"}) {
  %y = sparse_autograd.custom_vjp @square(%x) forward(@square_forward) backward(@square_backward) : (f64) -> f64
  return %y : f64
}

sparse_autograd.split_vjp @square as @square_first, @square_second {wrt = [0]}

// Zero, whose gradient overflows on its way back: 0 * inf.
func.func @lost(%x: tensor<100xf64> {sparse_autograd.name = "x"}) -> (tensor<100xf64> {sparse_autograd.name = "y"}) {
  %none = arith.constant dense<0.0> : tensor<100xf64>
  %large = arith.constant dense<1.0e200> : tensor<100xf64>
  %a = arith.mulf %x, %none : tensor<100xf64>
  %b = arith.mulf %a, %large : tensor<100xf64>
  %y = arith.mulf %b, %large : tensor<100xf64>
  return %y : tensor<100xf64>
}
