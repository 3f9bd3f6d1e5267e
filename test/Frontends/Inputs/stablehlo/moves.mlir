#map = affine_map<(d0, d1) -> (-d0 + 1, d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<() -> ()>
module @jit_moves attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x4xf32>, %arg1: tensor<2x3xf32>) -> (tensor<9xf32> {jax.result_info = "result"}) {
    %extracted_slice = tensor.extract_slice %arg0[0, 1] [4, 3] [1, 1] : tensor<4x4xf32> to tensor<4x3xf32>
    %0 = tensor.empty() : tensor<2x3xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<2x3xf32>) outs(%0 : tensor<2x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x3xf32>
    %extracted_slice_0 = tensor.extract_slice %arg0[1, 0] [2, 3] [1, 1] : tensor<4x4xf32> to tensor<2x3xf32>
    %c0 = arith.constant 0 : index
    %2 = tensor.empty() : tensor<8x3xf32>
    %3 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel"]} outs(%2 : tensor<8x3xf32>) {
    ^bb0(%out: f32):
      %9 = linalg.index 0 : index
      %10 = linalg.index 1 : index
      %11 = linalg.index 0 : index
      %c0_2 = arith.constant 0 : index
      %dim = tensor.dim %extracted_slice, %c0_2 : tensor<4x3xf32>
      %12 = arith.addi %c0, %dim : index
      %13 = arith.cmpi ult, %11, %12 : index
      %14 = scf.if %13 -> (f32) {
        %15 = arith.subi %11, %c0 : index
        %extracted = tensor.extract %extracted_slice[%15, %10] : tensor<4x3xf32>
        scf.yield %extracted : f32
      } else {
        %c0_3 = arith.constant 0 : index
        %dim_4 = tensor.dim %1, %c0_3 : tensor<2x3xf32>
        %15 = arith.addi %12, %dim_4 : index
        %16 = arith.cmpi ult, %11, %15 : index
        %17 = scf.if %16 -> (f32) {
          %18 = arith.subi %11, %12 : index
          %extracted = tensor.extract %1[%18, %10] : tensor<2x3xf32>
          scf.yield %extracted : f32
        } else {
          %18 = arith.subi %11, %15 : index
          %extracted = tensor.extract %extracted_slice_0[%18, %10] : tensor<2x3xf32>
          scf.yield %extracted : f32
        }
        scf.yield %17 : f32
      }
      linalg.yield %14 : f32
    } -> tensor<8x3xf32>
    %cst = arith.constant dense<0> : tensor<i32>
    %4 = call @_pad(%3, %cst) : (tensor<8x3xf32>, tensor<i32>) -> tensor<9x5xf32>
    %extracted_slice_1 = tensor.extract_slice %4[0, 0] [3, 3] [3, 2] : tensor<9x5xf32> to tensor<3x3xf32>
    %collapsed = tensor.collapse_shape %extracted_slice_1 [[0, 1]] : tensor<3x3xf32> into tensor<9xf32>
    %5 = tensor.empty() : tensor<9xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel"]} ins(%collapsed, %collapsed : tensor<9xf32>, tensor<9xf32>) outs(%5 : tensor<9xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %9 = arith.mulf %in, %in_2 : f32
      linalg.yield %9 : f32
    } -> tensor<9xf32>
    %7 = tensor.empty() : tensor<9xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel"]} ins(%6, %collapsed : tensor<9xf32>, tensor<9xf32>) outs(%7 : tensor<9xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %9 = arith.mulf %in, %in_2 : f32
      linalg.yield %9 : f32
    } -> tensor<9xf32>
    return %8 : tensor<9xf32>
  }
  func.func private @_pad(%arg0: tensor<8x3xf32>, %arg1: tensor<i32>) -> tensor<9x5xf32> {
    %0 = tensor.empty() : tensor<f32>
    %1 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = []} ins(%arg1 : tensor<i32>) outs(%0 : tensor<f32>) {
    ^bb0(%in: i32, %out: f32):
      %2 = arith.sitofp %in : i32 to f32
      linalg.yield %2 : f32
    } -> tensor<f32>
    %extracted = tensor.extract %1[] : tensor<f32>
    %padded = tensor.pad %arg0 low[0, 2] high[1, 0] {
    ^bb0(%arg2: index, %arg3: index):
      tensor.yield %extracted : f32
    } : tensor<8x3xf32> to tensor<9x5xf32>
    return %padded : tensor<9x5xf32>
  }
}
