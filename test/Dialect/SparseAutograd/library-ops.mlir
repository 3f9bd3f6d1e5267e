// RUN: sparse-opt %s | sparse-opt | FileCheck %s
// RUN: sparse-opt %s --canonicalize --cse | FileCheck %s --check-prefix=DEAD

// Offers to a library, on tensors and on buffers. On tensors they are values: what
// nothing asks for is not offered.

// DEAD-LABEL: func.func @tensors
//   DEAD-NOT:   offer_
// DEAD-LABEL: func.func @buffers
//       DEAD:   offer_product
//       DEAD:   offer_sampled_product

// CHECK-LABEL: func.func @tensors
// CHECK: sparse_autograd.offer_product %{{.+}} * %{{.+}} x %{{.+}} ins(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} : tensor<?xi32>, tensor<?xi32>, tensor<?xf32>, tensor<?x8xf32>) outs(%{{.+}} : tensor<?x8xf32>) {accumulates} -> tensor<?x8xf32>
// CHECK: sparse_autograd.offer_sampled_product %{{.+}} * %{{.+}} x %{{.+}} ins(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} : tensor<?xi32>, tensor<?xi32>, tensor<?x8xf32>, tensor<?x8xf32>) outs(%{{.+}} : tensor<?xf32>) {y_transposed} -> tensor<?xf32>
func.func @tensors(%p: tensor<?xi32>, %c: tensor<?xi32>, %v: tensor<?xf32>, %x: tensor<?x8xf32>, %scale: f64, %m: index) {
  %r, %done = sparse_autograd.offer_product %scale * %m x %m
      ins(%p, %c, %v, %x : tensor<?xi32>, tensor<?xi32>, tensor<?xf32>, tensor<?x8xf32>)
      outs(%x : tensor<?x8xf32>) {accumulates} -> tensor<?x8xf32>
  %s, %done2 = sparse_autograd.offer_sampled_product %scale * %m x %m
      ins(%p, %c, %x, %x : tensor<?xi32>, tensor<?xi32>, tensor<?x8xf32>, tensor<?x8xf32>)
      outs(%v : tensor<?xf32>) {y_transposed} -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @buffers
// CHECK: sparse_autograd.offer_product {{.*}} outs(%{{.+}} : memref<?x?xf64>)
// CHECK: sparse_autograd.offer_sampled_product {{.*}} outs(%{{.+}} : memref<?xf64>)
func.func @buffers(%p: memref<?xindex>, %v: memref<?xf64>, %x: memref<?x?xf64>, %scale: f64, %m: index) {
  %done = sparse_autograd.offer_product %scale * %m x %m
      ins(%p, %p, %v, %x : memref<?xindex>, memref<?xindex>, memref<?xf64>, memref<?x?xf64>)
      outs(%x : memref<?x?xf64>)
  %done2 = sparse_autograd.offer_sampled_product %scale * %m x %m
      ins(%p, %p, %x, %x : memref<?xindex>, memref<?xindex>, memref<?x?xf64>, memref<?x?xf64>)
      outs(%v : memref<?xf64>)
  return
}
