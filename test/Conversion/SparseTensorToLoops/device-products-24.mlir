// RUN: sparse-opt %s --convert-sparse-autograd-to-linalg --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse=for-device --canonicalize --cse --remarks-filter=".*contractions.*" --remark-policy=all 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: sparse-opt %s --convert-sparse-autograd-to-linalg --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse="for-device product-24=dense" --canonicalize --cse --remarks-filter=".*contractions.*" --remark-policy=all 2> %t.dense | FileCheck %s --check-prefix=EXPANDED
// RUN: FileCheck %s --input-file=%t.dense --check-prefix=DENSE
// RUN: sparse-opt %s --convert-sparse-autograd-to-linalg --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse="for-device product-24=sparse" --remarks-filter=".*contractions.*" --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=SPARSE

#Rows = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
#Batch = #sparse_tensor.encoding<{map = (b, i, j) -> (b : dense, i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>

// What sparse tensor cores compute is a parallel loop of inner products: the values
// as rows, and their coordinates. Sums that begin with zeros read none. Of extents
// that are known the model has predicted each way.

// CHECK-LABEL: func.func @layer(
// CHECK-SAME:    %[[M:[^:]*]]: tensor<?xi8>, %[[V:[^:]*]]: tensor<?xbf16>, %[[X:[^:]*]]: tensor<2048x512xbf16>
// CHECK-DAG:   %[[E:.*]] = tensor.empty() : tensor<2048x1024xf32>
// CHECK-DAG:   %[[L:.*]] = tensor.cast %[[V]] : tensor<?xbf16> to tensor<262144xbf16>
// CHECK-DAG:   %[[W:.*]] = tensor.expand_shape %[[L]] {{\[\[}}0, 1]] output_shape [1024, 256] : tensor<262144xbf16> into tensor<1024x256xbf16>
// CHECK:       scf.for %[[I:.*]] = %c0 to %c2048 step %c1 iter_args(%{{.*}} = %[[E]])
// CHECK:         scf.for %[[J:.*]] = %c0 to %c1024 step %c1 iter_args(%[[R:.*]] =
// CHECK-NEXT:      %[[S:.*]] = sparse_autograd.inner_product %[[W]][%[[J]]] by %[[M]] along 1, %[[X]][%[[I]]] along 1, %c512 from %cst
// CHECK-NEXT:      tensor.insert %[[S]] into %[[R]][%[[I]], %[[J]]]
// CHECK:         } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// REMARK:      Passed{{.*}}Function=layer{{.*}}product with a 2:4 matrix of bf16: 2:4 tensor-core tiles, by stored values; a model of h100 predicts {{[1-9][0-9.]*}} us by tiles, {{[1-9][0-9.]*}} us dense, {{[1-9][0-9.]*}} us by loops
// SPARSE:      Function=layer{{.*}}by stored values; asked for by product-24

// Asked for dense, the matrix is expanded, and what is left is a product as any other.

// EXPANDED-LABEL: func.func @layer(
// EXPANDED-NOT: inner_product
// EXPANDED:     %[[D:.*]] = scf.for {{.*}} -> (tensor<1024x512xbf16>)
// EXPANDED:     linalg.generic {{.*}} ins(%{{.*}}, %[[D]] : tensor<2048x512xbf16>, tensor<1024x512xbf16>)
// DENSE:        Missed{{.*}}Function=layer{{.*}}product with a 2:4 matrix of bf16: dense, of the matrix that is expanded first; asked for by product-24
func.func @layer(%w: tensor<1024x512xbf16, #Rows>, %x: tensor<2048x512xbf16>) -> tensor<2048x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x1024xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, m, k) -> (n, k)>, affine_map<(n, m, k) -> (m, k)>, affine_map<(n, m, k) -> (n, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2048x512xbf16>, tensor<1024x512xbf16, #Rows>) outs(%z : tensor<2048x1024xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %pw = arith.extf %p : bf16 to f32
    %qw = arith.extf %q : bf16 to f32
    %t = arith.mulf %pw, %qw : f32
    %r = arith.addf %s, %t : f32
    linalg.yield %r : f32
  } -> tensor<2048x1024xf32>
  return %y : tensor<2048x1024xf32>
}

// Batches, a scale and a difference; extents that the host knows when it chooses.

// CHECK-LABEL: func.func @batch(
// CHECK:       %[[W:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2]]
// CHECK:       %[[B:.*]] = tensor.extract %[[R:.*]][%[[Z:.*]], %[[I:.*]], %[[J:.*]]] : tensor<?x?x?xf32>
// CHECK-NEXT:  %[[S:.*]] = sparse_autograd.inner_product %[[W]][%[[Z]], %[[I]]] by %{{.*}} along 2, %{{.*}}[%[[Z]], %[[J]]] along 1, %{{.*}} from %cst
// CHECK-NEXT:  %[[T:.*]] = arith.mulf %{{.*}}, %[[S]]
// CHECK-NEXT:  %[[U:.*]] = arith.subf %[[B]], %[[T]]
// CHECK-NEXT:  tensor.insert %[[U]] into %[[R]][%[[Z]], %[[I]], %[[J]]]
// REMARK:      Passed{{.*}}Function=batch{{.*}}2:4 tensor-core tiles, by stored values; the host chooses tiles or loops by the extents of the call
func.func @batch(%w: tensor<?x?x?xf16, #Batch>, %x: tensor<?x?x?xf16>, %y: tensor<?x?x?xf32>, %scale: f32) -> tensor<?x?x?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %x : tensor<?x?x?xf16, #Batch>, tensor<?x?x?xf16>) outs(%y : tensor<?x?x?xf32>) {
  ^bb0(%p: f16, %q: f16, %s: f32):
    %pw = arith.extf %p : f16 to f32
    %qw = arith.extf %q : f16 to f32
    %t = arith.mulf %pw, %qw : f32
    %u = arith.mulf %scale, %t : f32
    %r = arith.subf %s, %u : f32
    linalg.yield %r : f32
  } -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

// The gradient dX = dY W of a selection reads its packed transpose: both are packed
// by one loop, over blocks, since 64 and 128 are multiples of eight.

// CHECK-LABEL: func.func @backward(
// CHECK-NOT:   linalg.generic {{.*}}tensor<?xi8>
// CHECK:       %[[LISTS:.*]]:4 = scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args({{.*}}) -> (tensor<4096xbf16>, tensor<1024xi8>, tensor<4096xbf16>, tensor<1024xi8>)
// CHECK:         scf.for %{{.*}} = %c0 to %c16 step %c1
// CHECK:           scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK-COUNT-64:    tensor.extract %arg0
// CHECK-NOT:         tensor.extract %arg0
// CHECK:       inner_product %{{.*}} along 1, %{{.*}} along 1, %c128
// CHECK:       inner_product %{{.*}} along 1, %{{.*}} along 1, %c64
// REMARK-COUNT-2: Passed{{.*}}Function=backward{{.*}}2:4 tensor-core tiles, by stored values
func.func @backward(%v: tensor<64x128xbf16>, %x: tensor<48x128xbf16>, %dy: tensor<48x64xbf16>, %y: tensor<48x64xf32>, %dx: tensor<48x128xf32>) -> (tensor<48x64xf32>, tensor<48x128xf32>) {
  %w = sparse_autograd.sparsify_24 %v select = greedy gradient = dense : tensor<64x128xbf16> -> tensor<64x128xbf16, #Rows>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, m, k) -> (n, k)>, affine_map<(n, m, k) -> (m, k)>, affine_map<(n, m, k) -> (n, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<48x128xbf16>, tensor<64x128xbf16, #Rows>) outs(%y : tensor<48x64xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %pw = arith.extf %p : bf16 to f32
    %qw = arith.extf %q : bf16 to f32
    %t = arith.mulf %pw, %qw : f32
    %r = arith.addf %s, %t : f32
    linalg.yield %r : f32
  } -> tensor<48x64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(n, k, m) -> (n, m)>, affine_map<(n, k, m) -> (m, k)>, affine_map<(n, k, m) -> (n, k)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dy, %w : tensor<48x64xbf16>, tensor<64x128xbf16, #Rows>) outs(%dx : tensor<48x128xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %pw = arith.extf %p : bf16 to f32
    %qw = arith.extf %q : bf16 to f32
    %t = arith.mulf %pw, %qw : f32
    %r = arith.addf %s, %t : f32
    linalg.yield %r : f32
  } -> tensor<48x128xf32>
  return %0, %1 : tensor<48x64xf32>, tensor<48x128xf32>
}

// Large products of f32, which has no sparse tensor cores, are faster in dense tiles;
// small ones are loops over what is stored, and so are those of extents that nobody
// knows: inner products too, which become these later.

// CHECK-LABEL: func.func @wide(
// CHECK:       linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<1024x1024xf32>, tensor<1024x1024xf32>)
// REMARK:      Missed{{.*}}Function=wide{{.*}}product with a 2:4 matrix of f32: dense, of the matrix that is expanded first; no 2:4 tensor-core tiles: products of f32 with sums of f32; a model of h100 predicts {{[1-9][0-9.]*}} us dense, {{[1-9][0-9.]*}} us by loops
func.func @wide(%w: tensor<1024x1024xf32, #Rows>, %x: tensor<1024x1024xf32>, %y: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = linalg.matmul ins(%w, %x : tensor<1024x1024xf32, #Rows>, tensor<1024x1024xf32>) outs(%y : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// CHECK-LABEL: func.func @narrow(
// CHECK:       sparse_autograd.inner_product %{{.*}}[%{{.*}}] by %{{.*}} along 1, %{{.*}}[%{{.*}}] along 0, %c64
// CHECK-NOT:   linalg.matmul
// CHECK:       return
// REMARK:      Missed{{.*}}Function=narrow{{.*}}product with a 2:4 matrix of bf16: loops over stored values; no 2:4 tensor-core tiles: 8 columns are fewer than 32; a model of h100 predicts {{[1-9][0-9.]*}} us by loops
func.func @narrow(%w: tensor<64x64xbf16, #Rows>, %x: tensor<64x8xbf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = linalg.matmul ins(%w, %x : tensor<64x64xbf16, #Rows>, tensor<64x8xbf16>) outs(%y : tensor<64x8xf32>) -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}

// CHECK-LABEL: func.func @open(
// CHECK:       sparse_autograd.inner_product {{.*}} : tensor<?x?xf32> by tensor<?xi8>, tensor<?x?xf32>, f32
// CHECK-NOT:   linalg.matmul
// CHECK:       return
// REMARK:      Missed{{.*}}Function=open{{.*}}product with a 2:4 matrix of f32: loops over stored values; no 2:4 tensor-core tiles: products of f32 with sums of f32
func.func @open(%w: tensor<?x?xf32, #Rows>, %x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.matmul ins(%w, %x : tensor<?x?xf32, #Rows>, tensor<?x?xf32>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// A matrix whose groups are not along the sum, and of which nothing is packed, is
// expanded: loops would visit each of its rows for each column.

// CHECK-LABEL: func.func @rows_alone(
// CHECK-NOT:   inner_product
// CHECK:       linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64x128xbf16>, tensor<64x48xbf16>)
// REMARK:      Missed{{.*}}Function=rows_alone{{.*}}dense, of the matrix that is expanded first; no 2:4 tensor-core tiles: its groups are not along the sum
func.func @rows_alone(%w: tensor<64x128xbf16, #Rows>, %x: tensor<64x48xbf16>, %y: tensor<128x48xf32>) -> tensor<128x48xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w, %x : tensor<64x128xbf16, #Rows>, tensor<64x48xbf16>) outs(%y : tensor<128x48xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %pw = arith.extf %p : bf16 to f32
    %qw = arith.extf %q : bf16 to f32
    %t = arith.mulf %pw, %qw : f32
    %r = arith.addf %s, %t : f32
    linalg.yield %r : f32
  } -> tensor<128x48xf32>
  return %0 : tensor<128x48xf32>
}
