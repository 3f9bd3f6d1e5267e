// A program that fails to differentiate becomes the few lines that matter.

// RUN: sparse-reduce %s -o %t.mlir --test=%S/Inputs/interesting.sh
// RUN: FileCheck %s < %t.mlir
// RUN: not sparse-opt --sparse-autograd-differentiate %t.mlir 2>&1 | FileCheck %s --check-prefix=STILL

// As mlir-reduce is called. What has no file goes to the output.
// RUN: sparse-reduce %s --reduction-tree="traversal-mode=0 test=%S/Inputs/interesting.sh" | diff - %t.mlir

// What was found stays, whatever the edits come to.
// RUN: rm -f %t.runs
// RUN: sparse-reduce %s -o %t.crashed.mlir --test=%S/Inputs/crashing.sh --test-arg=%t.runs 2>&1 | FileCheck %s --check-prefix=CRASHED
// RUN: FileCheck %s --check-prefix=SHORT < %t.crashed.mlir
// RUN: not sparse-opt --sparse-autograd-differentiate %t.crashed.mlir 2>&1 | FileCheck %s --check-prefix=STILL

// Any pass may shrink it.
// RUN: sparse-reduce %s --passes=symbol-dce --test=%S/Inputs/interesting.sh | FileCheck %s --check-prefix=DCE
// RUN: sparse-reduce %s --opt-reduction-pass="opt-pass=symbol-dce test=%S/Inputs/interesting.sh" | FileCheck %s --check-prefix=DCE

// What is refused, before anything is written.
// RUN: rm -f %t.none.mlir
// RUN: not sparse-reduce %t.missing.mlir --test=%S/Inputs/interesting.sh -o %t.none.mlir 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not sparse-reduce %s --test=%S/Inputs/boring.sh -o %t.none.mlir 2>&1 | FileCheck %s --check-prefix=BORING
// RUN: not sparse-reduce %s --test=%S/Inputs/nothing.sh -o %t.none.mlir 2>&1 | FileCheck %s --check-prefix=NOSCRIPT
// RUN: not sparse-reduce %s --test=%S/Inputs/plain.sh -o %t.none.mlir 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: not sparse-reduce %s --test=%S/Inputs -o %t.none.mlir 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not sparse-reduce %s --test=%S/Inputs/lost.sh -o %t.none.mlir 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: not sparse-reduce %s --test=%S/Inputs/odd.sh -o %t.none.mlir 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: not sparse-reduce %s -o %t.none.mlir 2>&1 | FileCheck %s --check-prefix=NOTEST
// RUN: not sparse-reduce %s --reduction-tree="tests=x" -o %t.none.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not sparse-reduce %s --passes=nothing --test=%S/Inputs/interesting.sh -o %t.none.mlir 2>&1 | FileCheck %s --check-prefix=PIPELINE
// RUN: not ls %t.none.mlir

// CHECK-NOT: @never_called
// CHECK: func.func private @loss(%[[X:.*]]: f32, %{{.*}}: tensor<4xf32>) -> f32 {
// CHECK-NEXT: %[[Y:.*]] = call @opaque(%[[X]])
// CHECK-NEXT: return %[[Y]]
// CHECK: value_and_grad @loss
// CHECK-NEXT: return

// STILL: 'func.call' op has no derivative rule
// DCE-NOT: @never_called
// DCE: call @opaque
// CRASHED: note: removing {{[a-z]+}}{{.*}} crashed ({{.+}}); the others are tried
// SHORT-NOT: @never_called
// SHORT: call @opaque
// NOFILE: No such file or directory
// BORING: error: the file does not show the failure: the script exits with status 0 for it, and has to exit with 1
// NOSCRIPT: error: the script '{{.*}}nothing.sh' cannot be run: there is no such file
// PLAIN: error: the script '{{.*}}plain.sh' cannot be run: it is not executable (chmod +x)
// FOLDER: error: the script '{{.*}}Inputs' cannot be run: it is a folder
// LOST: error: the script '{{.*}}lost.sh', or a program that it ends with, cannot be run:
// ODD: error: the script '{{.*}}odd.sh' exits with status 3: it has to exit with 1 for a file that shows the failure, and with 0 for one that does not
// NOTEST: error: there is no script: name it with --test=SCRIPT
// UNKNOWN: error: 'tests=x' is unknown: --reduction-tree takes test=SCRIPT and test-arg=ARGUMENT
// PIPELINE: error: 'nothing' is no pipeline

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
