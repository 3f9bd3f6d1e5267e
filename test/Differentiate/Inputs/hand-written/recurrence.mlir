// h = tanh(a h + x_t) over 12 steps. Backward, with s = (1 - h) (1 + h), g <- g s a,
// da += g s h_before.
func.func private @f(%a: f32, %x: tensor<12xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  %h = scf.for %t = %c0 to %c12 step %c1 iter_args(%before = %zero) -> (f32) {
    %u = tensor.extract %x[%t] : tensor<12xf32>
    %p = arith.mulf %a, %before : f32
    %s = arith.addf %p, %u : f32
    %after = math.tanh %s : f32
    scf.yield %after : f32
  }
  return %h : f32
}

func.func @generated(%a: f32, %x: tensor<12xf32>, %ct: f32) -> (f32, f32, tensor<12xf32>) {
  %r:3 = sparse_autograd.vjp @f(%a, %x) cotangents(%ct) {wrt = [0, 1]} : (f32, tensor<12xf32>), (f32) -> (f32, f32, tensor<12xf32>)
  return %r#0, %r#1, %r#2 : f32, f32, tensor<12xf32>
}

func.func @by_hand(%a: f32, %x: tensor<12xf32>, %ct: f32) -> (f32, f32, tensor<12xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c11 = arith.constant 11 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<12xf32>
  %empty_x = tensor.empty() : tensor<12xf32>
  // What is kept is h before each step.
  %h, %kept = scf.for %t = %c0 to %c12 step %c1 iter_args(%before = %zero, %tape = %empty) -> (f32, tensor<12xf32>) {
    %saved = tensor.insert %before into %tape[%t] : tensor<12xf32>
    %u = tensor.extract %x[%t] : tensor<12xf32>
    %p = arith.mulf %a, %before : f32
    %s = arith.addf %p, %u : f32
    %after = math.tanh %s : f32
    scf.yield %after, %saved : f32, tensor<12xf32>
  }
  %g, %da, %dx, %unused = scf.for %t = %c0 to %c12 step %c1 iter_args(%g0 = %ct, %da0 = %zero, %dx0 = %empty_x, %after = %h) -> (f32, f32, tensor<12xf32>, f32) {
    %at = arith.subi %c11, %t : index
    %before = tensor.extract %kept[%at] : tensor<12xf32>
    %below = arith.subf %one, %after : f32
    %above = arith.addf %one, %after : f32
    %slope = arith.mulf %below, %above : f32
    %d = arith.mulf %g0, %slope : f32
    %w = arith.mulf %d, %before : f32
    %da1 = arith.addf %da0, %w : f32
    %dx1 = tensor.insert %d into %dx0[%at] : tensor<12xf32>
    %g1 = arith.mulf %d, %a : f32
    scf.yield %g1, %da1, %dx1, %before : f32, f32, tensor<12xf32>, f32
  }
  return %h, %da, %dx : f32, f32, tensor<12xf32>
}
