// RUN: sparse-opt %s --sparse-autograd-fuse --remarks-filter=sparse-autograd-fuse --remark-policy=all -o /dev/null 2>&1 | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-DAG: [Passed] fused | Category:sparse-autograd-fuse | Function=explained
// CHECK-DAG: [Passed] grouped | Category:sparse-autograd-fuse | Function=explained{{.*}}Operations=2
// CHECK-DAG: [Missed] kept | Category:sparse-autograd-fuse | Function=product{{.*}}matrix product
func.func @explained(%x: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x4096xf32>
  %r = tensor.empty() : tensor<64xf32>
  %a = linalg.abs ins(%x : tensor<64x4096xf32>) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %init = linalg.fill ins(%zero : f32) outs(%r : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<64x4096xf32>) outs(%init : tensor<64xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.addf %acc, %v : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<64x4096xf32>, tensor<64xf32>) outs(%e : tensor<64x4096xf32>) {
  ^bb0(%v: f32, %p: f32, %o: f32):
    %0 = arith.mulf %v, %p : f32
    linalg.yield %0 : f32
  } -> tensor<64x4096xf32>
  return %d : tensor<64x4096xf32>
}

func.func @product(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %a = linalg.exp ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.matmul ins(%a, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = linalg.add ins(%a, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %p, %s : tensor<8x8xf32>, tensor<8x8xf32>
}
