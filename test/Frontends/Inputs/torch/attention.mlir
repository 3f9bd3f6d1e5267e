#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map3 = affine_map<(d0, d1, d2, d3) -> ()>
module {
  func.func @main(%arg0: tensor<2x5x2x3xf32>, %arg1: tensor<2x5x2x3xf32>, %arg2: tensor<2x5x2x3xf32>) -> tensor<2x5x2x3xf32> {
    %cst = arith.constant dense<[[false, true, true, true, true], [false, false, true, true, true], [false, false, false, true, true], [false, false, false, false, true], [false, false, false, false, false]]> : tensor<5x5xi1>
    %cst_0 = arith.constant dense<1.732050e+00> : tensor<f32>
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %0 = tensor.empty() : tensor<2x2x5x3xf32>
    %transposed = linalg.transpose ins(%arg0 : tensor<2x5x2x3xf32>) outs(%0 : tensor<2x2x5x3xf32>) permutation = [0, 2, 1, 3]
    %transposed_3 = linalg.transpose ins(%arg1 : tensor<2x5x2x3xf32>) outs(%0 : tensor<2x2x5x3xf32>) permutation = [0, 2, 1, 3]
    %transposed_4 = linalg.transpose ins(%arg2 : tensor<2x5x2x3xf32>) outs(%0 : tensor<2x2x5x3xf32>) permutation = [0, 2, 1, 3]
    %1 = tensor.empty() : tensor<2x2x3x5xf32>
    %transposed_5 = linalg.transpose ins(%transposed_3 : tensor<2x2x5x3xf32>) outs(%1 : tensor<2x2x3x5xf32>) permutation = [0, 1, 3, 2]
    %collapsed = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x2x5x3xf32> into tensor<4x5x3xf32>
    %collapsed_6 = tensor.collapse_shape %transposed_5 [[0, 1], [2], [3]] : tensor<2x2x3x5xf32> into tensor<4x3x5xf32>
    %2 = tensor.empty() : tensor<4x5x5xf32>
    %3 = linalg.fill ins(%cst_2 : f32) outs(%2 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %4 = linalg.batch_matmul ins(%collapsed, %collapsed_6 : tensor<4x5x3xf32>, tensor<4x3x5xf32>) outs(%3 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %expanded = tensor.expand_shape %4 [[0, 1], [2], [3]] output_shape [2, 2, 5, 5] : tensor<4x5x5xf32> into tensor<2x2x5x5xf32>
    %5 = tensor.empty() : tensor<2x2x5x5xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %cst_0 : tensor<2x2x5x5xf32>, tensor<f32>) outs(%5 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %21 = arith.divf %in, %in_9 : f32
      linalg.yield %21 : f32
    } -> tensor<2x2x5x5xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst, %6 : tensor<5x5xi1>, tensor<2x2x5x5xf32>) outs(%5 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: i1, %in_9: f32, %out: f32):
      %21 = arith.select %in, %cst_1, %in_9 : f32
      linalg.yield %21 : f32
    } -> tensor<2x2x5x5xf32>
    %8 = tensor.empty() : tensor<2x2x5x1xi64>
    %9 = linalg.fill ins(%c0_i64 : i64) outs(%8 : tensor<2x2x5x1xi64>) -> tensor<2x2x5x1xi64>
    %10 = tensor.empty() : tensor<2x2x5x1xf32>
    %11 = linalg.fill ins(%cst_1 : f32) outs(%10 : tensor<2x2x5x1xf32>) -> tensor<2x2x5x1xf32>
    %12:2 = linalg.generic {indexing_maps = [#map, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%7 : tensor<2x2x5x5xf32>) outs(%11, %9 : tensor<2x2x5x1xf32>, tensor<2x2x5x1xi64>) {
    ^bb0(%in: f32, %out: f32, %out_9: i64):
      %21 = linalg.index 3 : index
      %22 = arith.index_cast %21 : index to i64
      %23 = arith.maximumf %in, %out : f32
      %24 = arith.cmpf ogt, %in, %out : f32
      %25 = arith.select %24, %22, %out_9 : i64
      linalg.yield %23, %25 : f32, i64
    } -> (tensor<2x2x5x1xf32>, tensor<2x2x5x1xi64>)
    %13 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7, %12#0 : tensor<2x2x5x5xf32>, tensor<2x2x5x1xf32>) outs(%5 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %21 = arith.subf %in, %in_9 : f32
      linalg.yield %21 : f32
    } -> tensor<2x2x5x5xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13 : tensor<2x2x5x5xf32>) outs(%5 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %21 = math.exp %in : f32
      linalg.yield %21 : f32
    } -> tensor<2x2x5x5xf32>
    %15 = linalg.fill ins(%cst_2 : f32) outs(%10 : tensor<2x2x5x1xf32>) -> tensor<2x2x5x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%14 : tensor<2x2x5x5xf32>) outs(%15 : tensor<2x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %21 = arith.addf %in, %out : f32
      linalg.yield %21 : f32
    } -> tensor<2x2x5x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14, %16 : tensor<2x2x5x5xf32>, tensor<2x2x5x1xf32>) outs(%5 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %21 = arith.divf %in, %in_9 : f32
      linalg.yield %21 : f32
    } -> tensor<2x2x5x5xf32>
    %collapsed_7 = tensor.collapse_shape %17 [[0, 1], [2], [3]] : tensor<2x2x5x5xf32> into tensor<4x5x5xf32>
    %collapsed_8 = tensor.collapse_shape %transposed_4 [[0, 1], [2], [3]] : tensor<2x2x5x3xf32> into tensor<4x5x3xf32>
    %18 = tensor.empty() : tensor<4x5x3xf32>
    %19 = linalg.fill ins(%cst_2 : f32) outs(%18 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
    %20 = linalg.batch_matmul ins(%collapsed_7, %collapsed_8 : tensor<4x5x5xf32>, tensor<4x5x3xf32>) outs(%19 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
    %expanded_9 = tensor.expand_shape %20 [[0, 1], [2], [3]] output_shape [2, 2, 5, 3] : tensor<4x5x3xf32> into tensor<2x2x5x3xf32>
    %empty = tensor.empty() : tensor<2x5x2x3xf32>
    %transposed_10 = linalg.transpose ins(%expanded_9 : tensor<2x2x5x3xf32>) outs(%empty : tensor<2x5x2x3xf32>) permutation = [0, 2, 1, 3]
    return %transposed_10 : tensor<2x5x2x3xf32>
  }
}
