#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module attributes {torch.debug_module_name = "Perceptron"} {
  func.func @main(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xf32>, %arg2: tensor<?xf32>) -> tensor<?x?xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 5.000000e-01 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 2.000000e+00 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x?xf32>
    %dim_3 = tensor.dim %arg0, %c1 : tensor<?x?xf32>
    %dim_4 = tensor.dim %arg1, %c0 : tensor<?x?xf32>
    %dim_5 = tensor.dim %arg1, %c1 : tensor<?x?xf32>
    %0 = arith.cmpi eq, %dim_3, %dim_4 : index
    cf.assert %0, "mismatching contracting dimension for torch.aten.mm"
    %1 = tensor.empty(%dim, %dim_5) : tensor<?x?xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %3 = linalg.matmul ins(%arg0, %arg1 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%2 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %dim_6 = tensor.dim %arg2, %c0 : tensor<?xf32>
    %4 = arith.cmpi eq, %dim_5, %dim_6 : index
    cf.assert %4, "mismatched size for broadcast"
    %5 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %arg2 : tensor<?x?xf32>, tensor<?xf32>) outs(%1 : tensor<?x?xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %7 = arith.addf %in, %in_7 : f32
      linalg.yield %7 : f32
    } -> tensor<?x?xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<?x?xf32>) outs(%1 : tensor<?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %7 = math.sqrt %cst_2 : f32
      %8 = arith.divf %in, %7 : f32
      %9 = math.erf %8 : f32
      %10 = arith.addf %9, %cst_1 : f32
      %11 = arith.mulf %10, %cst_0 : f32
      %12 = arith.mulf %in, %11 : f32
      linalg.yield %12 : f32
    } -> tensor<?x?xf32>
    return %6 : tensor<?x?xf32>
  }
}
