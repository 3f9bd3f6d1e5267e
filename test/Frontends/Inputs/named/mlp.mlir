module @mlp attributes {mhlo.num_partitions = 1 : i32} {
  func.func @main(%arg0: tensor<?x6xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<8xf32>, %arg3: tensor<8xf32>) -> (tensor<?xf32> {jax.result_info = ""}) {
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %dim = tensor.dim %arg0, %c0 : tensor<?x6xf32>
    %0 = tensor.empty(%dim) : tensor<?x8xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %2 = linalg.matmul {precision = "highest"} ins(%arg0, %arg1 : tensor<?x6xf32>, tensor<6x8xf32>) outs(%1 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %broadcasted = linalg.broadcast ins(%arg2 : tensor<8xf32>) outs(%0 : tensor<?x8xf32>) dimensions = [0]
    %mapped = linalg.map { arith.addf } ins(%2, %broadcasted : tensor<?x8xf32>, tensor<?x8xf32>) outs(%0 : tensor<?x8xf32>)
    %mapped_0 = linalg.map { math.tanh } ins(%mapped : tensor<?x8xf32>) outs(%0 : tensor<?x8xf32>)
    %mapped_1 = linalg.map ins(%mapped, %mapped_0 : tensor<?x8xf32>, tensor<?x8xf32>) outs(%0 : tensor<?x8xf32>)
      (%in: f32, %in_2: f32, %out: f32) {
        %4 = arith.cmpf oge, %in, %cst : f32
        %5 = arith.mulf %in, %in_2 : f32
        %6 = arith.select %4, %5, %in_2 : f32
        linalg.yield %6 : f32
      }
    %broadcasted_2 = linalg.broadcast ins(%arg3 : tensor<8xf32>) outs(%0 : tensor<?x8xf32>) dimensions = [0]
    %mapped_3 = linalg.map { arith.mulf } ins(%mapped_1, %broadcasted_2 : tensor<?x8xf32>, tensor<?x8xf32>) outs(%0 : tensor<?x8xf32>)
    %3 = tensor.empty(%dim) : tensor<?xf32>
    %filled = linalg.fill ins(%cst : f32) outs(%3 : tensor<?xf32>) -> tensor<?xf32>
    %reduced = linalg.reduce { arith.addf } ins(%mapped_3 : tensor<?x8xf32>) outs(%filled : tensor<?xf32>) dimensions = [1]
    return %reduced : tensor<?xf32>
  }
}
