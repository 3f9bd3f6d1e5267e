// Every op, with each of its attributes at each of its values, is the same
// program after bytecode.

// RUN: sparse-opt %s --mlir-print-op-generic -o %t.mlir
// RUN: sparse-opt %s --emit-bytecode -o %t.mlirbc
// RUN: sparse-opt %t.mlirbc --mlir-print-op-generic -o %t.again.mlir
// RUN: diff %t.mlir %t.again.mlir
// RUN: FileCheck %s --input-file=%t.again.mlir

// Older readers have no properties: attributes are in a dictionary.
// RUN: sparse-opt %s --emit-bytecode --emit-bytecode-version=4 -o %t.4.mlirbc
// RUN: sparse-opt %t.4.mlirbc --mlir-print-op-generic -o %t.4.mlir
// RUN: diff %t.mlir %t.4.mlir

// No op is forgotten here.
// RUN: %python %S/Inputs/find_ops.py %source_dir/docs/reference/Dialect.md %t.again.mlir

// CHECK: "func.func"
// CHECK-SAME: sym_name = "masked_reduce"
func.func @masked_reduce(%x: tensor<4x?xf32>, %m: tensor<4x?xi1>, %rows: tensor<4xi1>) {
  // CHECK: "sparse_autograd.masked_reduce"
  // CHECK-SAME: kind = #sparse_autograd<kind sum>
  %0 = sparse_autograd.masked_reduce sum %x, %m dims = [0, 1] : tensor<4x?xf32>, tensor<4x?xi1> -> tensor<f32>
  // CHECK: "sparse_autograd.masked_reduce"
  // CHECK-SAME: empty = #sparse_autograd<empty nan>
  // CHECK-SAME: keepdims
  // CHECK-SAME: kind = #sparse_autograd<kind mean>
  %1 = sparse_autograd.masked_reduce mean %x, %m dims = [1] keepdims empty = nan : tensor<4x?xf32>, tensor<4x?xi1> -> tensor<4x1xf32>
  // CHECK: "sparse_autograd.masked_reduce"
  // CHECK-SAME: kind = #sparse_autograd<kind max>
  // CHECK-SAME: mask_dims = array<i64: 0>
  // CHECK-SAME: ties = #sparse_autograd<ties first>
  %2 = sparse_autograd.masked_reduce max %x, %rows dims = [1] mask_dims = [0] ties = first : tensor<4x?xf32>, tensor<4xi1> -> tensor<4xf32>
  // CHECK: kind = #sparse_autograd<kind min>
  %3 = sparse_autograd.masked_reduce min %x dims = [1] : tensor<4x?xf32> -> tensor<4xf32>
  // CHECK: kind = #sparse_autograd<kind prod>
  %4 = sparse_autograd.masked_reduce prod %x dims = [1] fastmath<reassoc,contract> : tensor<4x?xf32> -> tensor<4xf32>
  // CHECK: ddof = 1 : i64
  // CHECK-SAME: kind = #sparse_autograd<kind var>
  %5 = sparse_autograd.masked_reduce var %x dims = [1] ddof = 1 : tensor<4x?xf32> -> tensor<4xf32>
  // CHECK: kind = #sparse_autograd<kind std>
  %6 = sparse_autograd.masked_reduce std %x, %m dims = [1] ddof = 2 : tensor<4x?xf32>, tensor<4x?xi1> -> tensor<4xf32>
  // CHECK: kind = #sparse_autograd<kind norm2>
  %7 = sparse_autograd.masked_reduce norm2 %x dims = [1] : tensor<4x?xf32> -> tensor<4xf32>
  // CHECK: kind = #sparse_autograd<kind logsumexp>
  %8 = sparse_autograd.masked_reduce logsumexp %x dims = [] : tensor<4x?xf32> -> tensor<4x?xf32>
  return
}

func.func @softmax(%x: tensor<?x?xf16>, %m: tensor<?xi1>) {
  // CHECK: "sparse_autograd.masked_softmax"
  // CHECK-SAME: dims = array<i64: 1>
  // CHECK-SAME: fastmath = #arith.fastmath<contract>
  // CHECK-SAME: mask_dims = array<i64: 1>
  %0 = sparse_autograd.masked_softmax %x, %m dims = [1] mask_dims = [1] fastmath<contract> : tensor<?x?xf16>, tensor<?xi1>
  // CHECK: "sparse_autograd.masked_log_softmax"
  %1 = sparse_autograd.masked_log_softmax %x, %m dims = [0, 1] mask_dims = [0] fastmath<nsz> : tensor<?x?xf16>, tensor<?xi1>
  return
}

func.func @gradient_ops(%x: tensor<4x8xbf16>, %m: tensor<8xi1>, %s: f64) {
  // CHECK: "sparse_autograd.grad_mask"
  // CHECK-SAME: mask_dims = array<i64: 1>
  %0 = sparse_autograd.grad_mask %x, %m mask_dims = [1] : tensor<4x8xbf16>, tensor<8xi1>
  // CHECK: "sparse_autograd.stop_gradient"
  %1 = sparse_autograd.stop_gradient %s : f64
  return
}

func.func private @f(tensor<8xf32>, f32, i32) -> (f32, tensor<2xf32>)

func.func @derivatives(%w: tensor<8xf32>, %b: f32, %n: i32, %c: tensor<2xf32>) {
  // CHECK: "sparse_autograd.value_and_grad"
  // CHECK-SAME: callee = @f
  // CHECK-SAME: wrt = array<i64: 0, 1>
  %l, %aux, %dw, %db = sparse_autograd.value_and_grad @f(%w, %b, %n) {wrt = [0, 1]} : (tensor<8xf32>, f32, i32) -> (f32, tensor<2xf32>, tensor<8xf32>, f32)
  // CHECK: "sparse_autograd.vjp"
  // CHECK-SAME: operandSegmentSizes = array<i32: 3, 2>
  %v:3 = sparse_autograd.vjp @f(%w, %b, %n) cotangents(%b, %c) {wrt = [1]} : (tensor<8xf32>, f32, i32), (f32, tensor<2xf32>) -> (f32, tensor<2xf32>, f32)
  // CHECK: "sparse_autograd.jvp"
  // CHECK-SAME: operandSegmentSizes = array<i32: 3, 1>
  %j:4 = sparse_autograd.jvp @f(%w, %b, %n) tangents(%w) {wrt = [0]} : (tensor<8xf32>, f32, i32), (tensor<8xf32>) -> (f32, tensor<2xf32>, f32, tensor<2xf32>)
  // CHECK: "sparse_autograd.linear_transpose"
  // CHECK-SAME: operandSegmentSizes = array<i32: 2, 1>
  %t = sparse_autograd.linear_transpose @l(%b, %b) cotangents(%c) {wrt = [1]} : (f32, f32), (tensor<2xf32>) -> (f32)
  // CHECK: "sparse_autograd.checkpoint"
  // CHECK-SAME: callee = @f
  %k:2 = sparse_autograd.checkpoint @f(%w, %b, %n) : (tensor<8xf32>, f32, i32) -> (f32, tensor<2xf32>)
  // CHECK: "sparse_autograd.custom_vjp"
  // CHECK-SAME: backward = @backward, callee = @f, forward = @forward
  %y:2 = sparse_autograd.custom_vjp @f(%w, %b, %n) forward(@forward) backward(@backward) : (tensor<8xf32>, f32, i32) -> (f32, tensor<2xf32>)
  // CHECK: "sparse_autograd.barrier"
  %r:2 = sparse_autograd.barrier %w, %n : tensor<8xf32>, i32
  return
}

func.func private @l(f32, f32) -> tensor<2xf32>
func.func private @forward(tensor<8xf32>, f32, i32) -> (f32, tensor<2xf32>, index)
func.func private @backward(index, f32, tensor<2xf32>) -> (tensor<8xf32>, f32)

// CHECK: "sparse_autograd.split_vjp"
// CHECK-SAME: backward = @f_backward, callee = @f, forward = @f_forward, wrt = array<i64: 1, 0>
sparse_autograd.split_vjp @f as @f_forward, @f_backward {wrt = [1, 0]}
// CHECK: !sparse_autograd.residuals<@f_forward>
func.func private @f_backward(!sparse_autograd.residuals<@f_forward>, f32, tensor<2xf32>) -> (f32, tensor<8xf32>)

// CHECK: sparse_autograd.name = "ratings"
// CHECK-SAME: sparse_autograd.mask_of = "ratings"
func.func @program(%r: tensor<?x?xf64> {sparse_autograd.name = "ratings"}, %o: tensor<?x?xi1> {sparse_autograd.mask_of = "ratings"}, %seed: i64, %n: index, %e: i32) {
  // CHECK: distribution = #sparse_autograd<distribution uniform>
  %0 = sparse_autograd.random uniform %seed, %seed : tensor<8x16xf32>
  // CHECK: distribution = #sparse_autograd<distribution normal>
  %1 = sparse_autograd.random normal %seed, %seed, [%n, %n] : tensor<?x?xf64>
  // CHECK: distribution = #sparse_autograd<distribution bernoulli>
  // CHECK-SAME: probability = 8.000000e-01 : f64
  %2 = sparse_autograd.random bernoulli %seed, %seed, [%n] probability = 0.8 : tensor<?xi1>
  // CHECK: "sparse_autograd.log"
  // CHECK-SAME: names = ["epoch", "the step"]
  sparse_autograd.log "epoch" %e, "the step" %n : i32, index
  return
}

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#Rows = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : dense)}>

// CHECK: sym_name = "sparse"
func.func @sparse(%x: tensor<4x8xf32>, %p: tensor<4x8xf32, #CSR>) {
  // CHECK: "sparse_autograd.pattern"
  %0 = sparse_autograd.pattern %p : tensor<4x8xf32, #CSR>
  // CHECK: "sparse_autograd.zeros"
  %1 = sparse_autograd.zeros %0 : tensor<4x8xi1, #CSR> -> tensor<4x8xf64, #CSR>
  // CHECK: "sparse_autograd.stored_values"
  %values = sparse_autograd.stored_values %p : tensor<4x8xf32, #CSR> -> tensor<?xf32>
  // CHECK: "sparse_autograd.with_values"
  %with = sparse_autograd.with_values %values, %0 : tensor<?xf32>, tensor<4x8xi1, #CSR> -> tensor<4x8xf32, #CSR>
  // CHECK: "sparse_autograd.sample"
  %2 = sparse_autograd.sample %x, %0 : tensor<4x8xf32>, tensor<4x8xi1, #CSR> -> tensor<4x8xf32, #CSR>
  // CHECK: "sparse_autograd.sampled_generic"
  // CHECK-SAME: iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>]
  %3 = sparse_autograd.sampled_generic {
        indexing_maps = [affine_map<(i, k, j) -> (i, k)>, affine_map<(i, k, j) -> (i, j)>],
        iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%2 : tensor<4x8xf32, #CSR>) attributes {note = "kept"} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32, #CSR>
  return
}

// CHECK: sym_name = "rows"
func.func @rows(%t: tensor<?x4xf32>, %i: tensor<3xi32>, %n: index, %p: tensor<?x?xf32, #CSR>) {
  // CHECK: "sparse_autograd.gather"
  %0 = sparse_autograd.gather %t, %i : tensor<?x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
  // CHECK: "sparse_autograd.scatter_rows"
  %1 = sparse_autograd.scatter_rows %0, %i, %n : tensor<3x4xf32>, tensor<3xi32> -> tensor<?x4xf32, #Rows>
  // CHECK: "sparse_autograd.accumulate"
  %2 = sparse_autograd.accumulate %t, %1 : tensor<?x4xf32>, tensor<?x4xf32, #Rows> -> tensor<?x4xf32>
  // CHECK: "sparse_autograd.stored_coordinates"
  // CHECK-SAME: level = 1 : index
  %3 = sparse_autograd.stored_coordinates %p {level = 1 : index} : tensor<?x?xf32, #CSR> -> tensor<?xindex>
  return
}

// CHECK: sym_name = "storage"
func.func @storage(%c: tensor<?x2xindex>, %e: tensor<?xindex>, %n: tensor<2xindex>, %rows: index, %columns: index) {
  // CHECK: "sparse_autograd.count_before"
  %b = sparse_autograd.count_before ins(%e : tensor<?xindex>) outs(%e : tensor<?xindex>) -> tensor<?xindex>
  // CHECK: "sparse_autograd.sort_entries"
  %o = sparse_autograd.sort_entries ins(%c : tensor<?x2xindex>) outs(%e : tensor<?xindex>) -> tensor<?xindex>
  // CHECK: "sparse_autograd.count_positions"
  // CHECK-SAME: encoding = #sparse
  %m = sparse_autograd.count_positions #CSR
      ins(%c, %o, %rows, %columns : tensor<?x2xindex>, tensor<?xindex>, index, index)
      outs(%n : tensor<2xindex>) -> tensor<2xindex>
  // CHECK: "sparse_autograd.store_positions"
  // CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 2, 3>
  %p:3 = sparse_autograd.store_positions #CSR
      ins(%c, %o, %rows, %columns : tensor<?x2xindex>, tensor<?xindex>, index, index)
      outs(%e, %e, %e : tensor<?xindex>, tensor<?xindex>, tensor<?xindex>)
      -> tensor<?xindex>, tensor<?xindex>, tensor<?xindex>
  return
}

// CHECK: sym_name = "sparse_product"
func.func @sparse_product(%p: tensor<?xi32>, %v: tensor<?xf32>, %m: index) {
  // CHECK: "sparse_autograd.begin_sparse_product"
  %n = sparse_autograd.begin_sparse_product %m x %m x %m
      ins(%p, %p, %v, %p, %p, %v : tensor<?xi32>, tensor<?xi32>, tensor<?xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xf32>)
  // CHECK: "sparse_autograd.end_sparse_product"
  // CHECK-SAME: operandSegmentSizes = array<i32: 6, 3>
  %q:3 = sparse_autograd.end_sparse_product
      ins(%p, %p, %v, %p, %p, %v : tensor<?xi32>, tensor<?xi32>, tensor<?xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xf32>)
      outs(%p, %p, %v : tensor<?xi32>, tensor<?xi32>, tensor<?xf32>)
      -> tensor<?xi32>, tensor<?xi32>, tensor<?xf32>
  return
}

// CHECK: sym_name = "offers"
func.func @offers(%p: tensor<?xi32>, %v: tensor<?xf32>, %x: tensor<?x?xf32>, %a: f64, %m: index) {
  // CHECK: "sparse_autograd.offer_product"
  // CHECK-SAME: <{accumulates, y_transposed}>
  %r, %d = sparse_autograd.offer_product %a * %m x %m
      ins(%p, %p, %v, %x : tensor<?xi32>, tensor<?xi32>, tensor<?xf32>, tensor<?x?xf32>)
      outs(%x : tensor<?x?xf32>) {accumulates, y_transposed} -> tensor<?x?xf32>
  // CHECK: "sparse_autograd.offer_sampled_product"
  // CHECK-SAME: <{x_transposed}>
  %s, %e = sparse_autograd.offer_sampled_product %a * %m x %m
      ins(%p, %p, %x, %x : tensor<?xi32>, tensor<?xi32>, tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%v : tensor<?xf32>) {x_transposed} -> tensor<?xf32>
  return
}

// CHECK: sym_name = "inner_product"
func.func @inner_product(%a: memref<?x4xf32>, %n: index, %z: f32) -> f32 {
  // CHECK: "sparse_autograd.inner_product"
  // CHECK-SAME: leftDim = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>, rightDim = 1 : i64
  %s = sparse_autograd.inner_product %a[%n] along 0, %a[%n] along 1, %n from %z : memref<?x4xf32>, memref<?x4xf32>, f32
  return %s : f32
}

// CHECK: sym_name = "structured_product"
func.func @structured_product(%a: memref<?x4xf32>, %c: memref<?xi8>, %n: index, %z: f32) -> f32 {
  // CHECK: "sparse_autograd.inner_product"
  // CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>
  %s = sparse_autograd.inner_product %a[%n] by %c along 1, %a[%n] along 1, %n from %z : memref<?x4xf32> by memref<?xi8>, memref<?x4xf32>, f32
  return %s : f32
}

// CHECK: sym_name = "selections"
func.func @selections(%w: tensor<8x?xf32>, %n: index) {
  // CHECK: "sparse_autograd.sparsify_24"
  // CHECK-SAME: gradient = #sparse_autograd<selection_gradient dense>
  // CHECK-SAME: select = #sparse_autograd<select_24 greedy>
  %0, %1 = sparse_autograd.sparsify_24 %w select = greedy gradient = dense : tensor<8x?xf32> -> tensor<8x?xf32>, tensor<?x8xf32>
  // CHECK: gradient = #sparse_autograd<selection_gradient sparse>
  // CHECK-SAME: select = #sparse_autograd<select_24 optimal>
  %2 = sparse_autograd.sparsify_24 %w select = optimal gradient = sparse : tensor<8x?xf32> -> tensor<8x?xf32>
  // CHECK: gradient = #sparse_autograd<selection_gradient ste>
  // CHECK-SAME: select = #sparse_autograd<select_24 row_wise>
  %3 = sparse_autograd.sparsify_24 %w select = row_wise gradient = ste : tensor<8x?xf32> -> tensor<8x?xf32>
  // CHECK: "sparse_autograd.sparsify_24_like"
  // CHECK-SAME: gradient = #sparse_autograd<selection_gradient scaled>
  // CHECK-SAME: gradient_scales = array<f64: 1.000000e+00, 5.000000e-01>
  // CHECK-SAME: select = #sparse_autograd<select_24 causal1122>
  %4 = sparse_autograd.sparsify_24_like %w, %2 select = causal1122 gradient = scaled<1.0, 0.5> : tensor<8x?xf32>, tensor<8x?xf32> -> tensor<8x?xf32>
  // CHECK: "sparse_autograd.choose_24"
  %5 = sparse_autograd.choose_24 %w select = greedy : tensor<8x?xf32> -> tensor<2x?xi16>
  // CHECK: "sparse_autograd.mask_24"
  %6 = sparse_autograd.mask_24 %5, [%n] : tensor<2x?xi16> -> tensor<8x?xi1>
  return
}


#Packed = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>

// CHECK: sym_name = "packing"
func.func @packing(%w: tensor<8x?xf32>, %k: tensor<2x?xi16>, %v: tensor<?xf32>, %c: tensor<?xi8>, %n: index) {
  // CHECK: "sparse_autograd.compress_24"
  // CHECK-SAME: both_orders, transposed
  %0 = sparse_autograd.compress_24 %w by %k transposed {both_orders} : tensor<8x?xf32>, tensor<2x?xi16> -> tensor<?x8xf32, #Packed>
  // CHECK: "sparse_autograd.pack_24"
  // CHECK-SAME: level = 2 : i64, operandSegmentSizes = array<i32: 1, 0, 2>, orders = array<i1: false>
  %1:2 = sparse_autograd.pack_24 ins(%w : tensor<8x?xf32>) outs(%v, %c : tensor<?xf32>, tensor<?xi8>) orders = [false] {level = 2 : i64} -> tensor<?xf32>, tensor<?xi8>
  // CHECK: "sparse_autograd.multiply_24"
  // CHECK-SAME: dense_transposed, is_transposed, strategy = 2 : i64, sum_transposed
  %2 = sparse_autograd.multiply_24 %n x %n ins(%v, %c, %w : tensor<?xf32>, tensor<?xi8>, tensor<8x?xf32>) outs(%w : tensor<8x?xf32>) {is_transposed, dense_transposed, sum_transposed, strategy = 2 : i64} -> tensor<8x?xf32>
  return
}
