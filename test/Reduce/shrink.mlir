// A program that fails to differentiate becomes the few lines that matter.

// RUN: sparse-reduce %s -o %t.mlir --reduction-tree="traversal-mode=0 test=%S/Inputs/interesting.sh"
// RUN: FileCheck %s < %t.mlir
// RUN: not sparse-opt --sparse-autograd-differentiate %t.mlir 2>&1 | FileCheck %s --check-prefix=STILL

// Any pass may shrink it.
// RUN: sparse-reduce %s --opt-reduction-pass="opt-pass=symbol-dce test=%S/Inputs/interesting.sh" | FileCheck %s --check-prefix=DCE

// RUN: not sparse-reduce %t.none.mlir 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not sparse-reduce %s --reduction-tree="test=%S/Inputs/boring.sh" 2>&1 | FileCheck %s --check-prefix=BORING

// CHECK-NOT: @never_called
// CHECK: func.func private @loss(%[[X:.*]]: f32, %{{.*}}: tensor<4xf32>) -> f32 {
// CHECK-NEXT: %[[Y:.*]] = call @opaque(%[[X]])
// CHECK-NEXT: return %[[Y]]
// CHECK: value_and_grad @loss
// CHECK-NEXT: return

// STILL: 'func.call' op has no derivative rule
// DCE-NOT: @never_called
// DCE: call @opaque
// NOFILE: No such file or directory
// BORING: warning: uninterested module will not be reduced

func.func private @never_called(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

func.func private @opaque(f32) -> f32

func.func private @loss(%x: f32, %t: tensor<4xf32>) -> f32 {
  %a = math.exp %x : f32
  %c = func.call @opaque(%a) : (f32) -> f32
  %sum = sparse_autograd.masked_reduce sum %t dims = [0] : tensor<4xf32> -> tensor<f32>
  %first = tensor.extract %sum[] : tensor<f32>
  %d = arith.addf %c, %first : f32
  return %d : f32
}

func.func @gradient(%x: f32, %t: tensor<4xf32>) -> (f32, f32) {
  %l, %d = sparse_autograd.value_and_grad @loss(%x, %t) {wrt = [0]}
      : (f32, tensor<4xf32>) -> (f32, f32)
  return %l, %d : f32, f32
}
