module {
  func.func @main(%arg0: tensor<2x4x3xf32>, %arg1: tensor<2x5x3xf32>, %arg2: tensor<2x5x3xf32>) -> tensor<2x4x3xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %0 = tensor.empty() : tensor<2x3x5xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<2x5x3xf32>) outs(%0 : tensor<2x3x5xf32>) permutation = [0, 2, 1]
    %1 = tensor.empty() : tensor<2x4x5xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
    %3 = linalg.batch_matmul ins(%arg0, %transposed : tensor<2x4x3xf32>, tensor<2x3x5xf32>) outs(%2 : tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3 : tensor<2x4x5xf32>) outs(%1 : tensor<2x4x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %8 = linalg.index 1 : index
      %9 = linalg.index 2 : index
      %10 = arith.cmpi uge, %8, %9 : index
      %11 = arith.select %10, %in, %cst_0 : f32
      linalg.yield %11 : f32
    } -> tensor<2x4x5xf32>
    %5 = tensor.empty() : tensor<2x4xf32>
    %6 = linalg.fill ins(%cst_0 : f32) outs(%5 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %reduced = linalg.reduce ins(%4 : tensor<2x4x5xf32>) outs(%6 : tensor<2x4xf32>) dimensions = [2]
      (%in: f32, %init: f32) {
        %8 = arith.maximumf %init, %in : f32
        linalg.yield %8 : f32
      }
    %broadcasted = linalg.broadcast ins(%reduced : tensor<2x4xf32>) outs(%1 : tensor<2x4x5xf32>) dimensions = [2]
    %mapped = linalg.map { arith.subf } ins(%4, %broadcasted : tensor<2x4x5xf32>, tensor<2x4x5xf32>) outs(%1 : tensor<2x4x5xf32>)
    %mapped_1 = linalg.map { math.exp } ins(%mapped : tensor<2x4x5xf32>) outs(%1 : tensor<2x4x5xf32>)
    %filled = linalg.fill ins(%cst : f32) outs(%5 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %reduced_2 = linalg.reduce { arith.addf } ins(%mapped_1 : tensor<2x4x5xf32>) outs(%filled : tensor<2x4xf32>) dimensions = [2]
    %broadcasted_3 = linalg.broadcast ins(%reduced_2 : tensor<2x4xf32>) outs(%1 : tensor<2x4x5xf32>) dimensions = [2]
    %mapped_4 = linalg.map { arith.divf } ins(%mapped_1, %broadcasted_3 : tensor<2x4x5xf32>, tensor<2x4x5xf32>) outs(%1 : tensor<2x4x5xf32>)
    %7 = tensor.empty() : tensor<2x4x3xf32>
    %filled_5 = linalg.fill ins(%cst : f32) outs(%7 : tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    %result = linalg.batch_matmul ins(%mapped_4, %arg2 : tensor<2x4x5xf32>, tensor<2x5x3xf32>) outs(%filled_5 : tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    return %result : tensor<2x4x3xf32>
  }
}
