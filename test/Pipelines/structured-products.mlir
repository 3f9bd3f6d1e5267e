// The kernels of products with a 2:4 matrix, of tiles of both sizes and with W as either
// factor, have place for their numbers in registers on every chip with sparse tensor
// cores of this kind.

// REQUIRES: ptxas
// RUN: sparse-opt %s --sparse-autograd="target=gpu chip=sm_80,sm_90,sm_100 kernel-report=true" -o /dev/null 2> %t
// RUN: FileCheck %s --input-file=%t
// RUN: FileCheck %s --input-file=%t --check-prefix=NO

// CHECK-DAG: remark: layer_kernel on sm_80: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled
// CHECK-DAG: remark: layer_kernel on sm_90: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled
// CHECK-DAG: remark: layer_kernel on sm_100: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled
// CHECK-DAG: remark: layer_kernel_0 on sm_80: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled, 44544 bytes of shared memory
// CHECK-DAG: remark: known_kernel on sm_90: 128 registers, 0 bytes of stack, 0 bytes spilled
// NO-NOT: {{[1-9][0-9]*}} bytes spilled

#Rows = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
func.func @layer(%w: tensor<?x?xbf16, #Rows>, %x: tensor<?x?xbf16>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(n, m, k) -> (n, k)>, affine_map<(n, m, k) -> (m, k)>, affine_map<(n, m, k) -> (n, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x?xbf16>, tensor<?x?xbf16, #Rows>) outs(%y : tensor<?x?xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %pw = arith.extf %p : bf16 to f32
    %qw = arith.extf %q : bf16 to f32
    %t = arith.mulf %pw, %qw : f32
    %r = arith.addf %s, %t : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

func.func @known(%w: tensor<4096x1024xf16, #Rows>, %x: tensor<1024x2048xf16>, %y: tensor<4096x2048xf32>) -> tensor<4096x2048xf32> {
  %0 = linalg.matmul ins(%w, %x : tensor<4096x1024xf16, #Rows>, tensor<1024x2048xf16>) outs(%y : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  return %0 : tensor<4096x2048xf32>
}
