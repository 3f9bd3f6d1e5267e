// RUN: sparse-opt %s --split-input-file --verify-diagnostics

// What a schedule may not say, and where it may not stand.

func.func @lanes_carry(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = vector.broadcast %x : f32 to vector<4xf32>
  // expected-error @+1 {{has a schedule that says 'lanes', but carries a value of type 'vector<4xf32>'; lanes combine scalars alone}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %v) -> (vector<4xf32>) {
    scf.yield %a : vector<4xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes>}
  return
}

// -----

func.func @lanes_in_lanes(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+1 {{says 'lanes' within a loop that lanes share already}}
    scf.for %j = %c0 to %n step %c1 {
    } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes = 8>}
  return
}

// -----

func.func @lanes_outermost(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{says 'lanes', but lanes share loops within a parallel one}}
  scf.for %i = %c0 to %n step %c1 {
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, lanes>}
  return
}

// -----

func.func @vector_alone(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{says 'vector' of a loop that is neither parallel nor shared by lanes}}
  scf.for %i = %c0 to %n step %c1 {
  } {sparse_autograd.schedule = #sparse_autograd.schedule<vector = 4>}
  return
}

// -----

func.func @vector_step(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-error @+1 {{says 'vector', but the step is not 1}}
  scf.for %i = %c0 to %n step %c2 {
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, vector = 4>}
  return
}

// -----

func.func @vector_bound(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  // expected-error @+1 {{says 'vector = 4', which does not divide the bound 6}}
  scf.for %i = %c0 to %c6 step %c1 {
  } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes, vector = 4>}
  return
}

// -----

func.func @parallel_op(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.parallel' op has a schedule that must be 'vector' alone on an op that is parallel}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}

// -----

func.func @parallel_op_step(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.parallel' op has a schedule that says 'vector', but the step is not 1}}
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %n) {
  } {sparse_autograd.schedule = #sparse_autograd.schedule<vector = 2>}
  return
}

// -----

func.func @no_loop(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'arith.negf' op has a schedule that stands on no loop; it belongs to an 'scf.for', an 'scf.parallel' or a call of an outlined body}}
  %y = arith.negf %x {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>} : f32
  return
}

// -----

func.func @call(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'func.call' op has a schedule that must be 'parallel' alone on a call}}
  func.call @call(%n, %x) {sparse_autograd.schedule = #sparse_autograd.schedule<entries>} : (index, f32) -> ()
  return
}

// -----

func.func @no_bounds() {
  // expected-error @+1 {{'scf.for' op expected 3 or more operands, but found 0}}
  "scf.for"() ({
  ^body(%i: index):
    "scf.yield"() : () -> ()
  }) {sparse_autograd.schedule = #sparse_autograd.schedule<lanes, vector = 4>} : () -> ()
  return
}

// -----

// expected-error @+1 {{a schedule says nothing; it has 'parallel', 'entries', 'lanes' or 'vector = N' with N > 1}}
func.func private @empty() attributes {test = #sparse_autograd.schedule<>}

// -----

// expected-error @+1 {{unknown part 'paralel' of a schedule; there are 'parallel', 'entries', 'lanes' and 'vector'}}
func.func private @unknown() attributes {test = #sparse_autograd.schedule<paralel>}

// -----

// expected-error @+1 {{'parallel' is said twice in a schedule}}
func.func private @twice() attributes {test = #sparse_autograd.schedule<parallel, parallel>}

// -----

// expected-error @+1 {{'lanes' is said twice in a schedule}}
func.func private @lanes_twice() attributes {test = #sparse_autograd.schedule<lanes, lanes = 8>}

// -----

// expected-error @+1 {{expected a positive number of lanes}}
func.func private @no_lanes() attributes {test = #sparse_autograd.schedule<lanes = 0>}

// -----

// expected-error @+1 {{a thread does -7 iterations at once; it does 2 or more}}
func.func private @vector_negative() attributes {test = #sparse_autograd.schedule<vector = -7>}

// -----

// expected-error @+1 {{a schedule says nothing; it has 'parallel', 'entries', 'lanes' or 'vector = N' with N > 1}}
func.func private @vector_one() attributes {test = #sparse_autograd.schedule<vector = 1>}
