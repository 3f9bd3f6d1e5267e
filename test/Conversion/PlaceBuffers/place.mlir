// RUN: sparse-opt %s --sparse-autograd-place-buffers | FileCheck %s

#id = affine_map<(i) -> (i)>
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// Arguments go to the device once, results to the host. What the host alone
// reads stays there.

// CHECK-LABEL: func.func @square(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?xf32>, %[[N:[^:]*]]: memref<2xindex>) -> memref<?xf32> {
func.func @square(%x: memref<?xf32>, %sizes: memref<2xindex>) -> memref<?xf32> {
  // CHECK: %[[DX:.*]] = memref.alloc(%{{.*}}) : memref<?xf32, #gpu.address_space<global>>
  // CHECK: memref.copy %[[X]], %[[DX]]
  // CHECK: %[[SIZE:.*]] = memref.load %[[N]][%{{.*}}] : memref<2xindex>
  // CHECK: %[[DY:.*]] = memref.alloc(%[[SIZE]]) : memref<?xf32, #gpu.address_space<global>>
  // CHECK: memref.subview %[[DX]]{{.*}} to memref<?xf32, strided<[1]>, #gpu.address_space<global>>
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : memref<?xf32, strided<[1]>, #gpu.address_space<global>>) outs(%[[DY]] :
  // CHECK: memref.dealloc %[[DX]]
  // CHECK: %[[Y:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
  // CHECK: memref.copy %[[DY]], %[[Y]]
  // CHECK: memref.dealloc %[[DY]]
  // CHECK: return %[[Y]] : memref<?xf32>
  %c0 = arith.constant 0 : index
  %n = memref.load %sizes[%c0] : memref<2xindex>
  %y = memref.alloc(%n) : memref<?xf32>
  %part = memref.subview %x[0] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%part : memref<?xf32, strided<[1]>>) outs(%y : memref<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %p = arith.mulf %a, %a : f32
      linalg.yield %p : f32
  }
  return %y : memref<?xf32>
}

// What a loop carries is one class; a result that is returned twice is copied
// once.

// CHECK-LABEL: func.func @carried(
// CHECK:       scf.for {{.*}} -> (memref<4xf32, #gpu.address_space<global>>, memref<4xf32, #gpu.address_space<global>>)
// CHECK:       %[[HOST:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NOT:   memref.alloc
// CHECK:       return %[[HOST]], %[[HOST]]
func.func @carried(%n: index) -> (memref<4xf32>, memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<4xf32>)
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %a, %v = %b) -> (memref<4xf32>, memref<4xf32>) {
    scf.yield %v, %u : memref<4xf32>, memref<4xf32>
  }
  return %r#0, %r#0 : memref<4xf32>, memref<4xf32>
}

// A constant is copied before the loop that reads it.

memref.global "private" constant @table : memref<3xf32> = dense<[1.0, 2.0, 3.0]>

// CHECK-LABEL: func.func @constant(
// CHECK:       %[[TABLE:.*]] = memref.get_global @table : memref<3xf32>
// CHECK:       %[[COPY:.*]] = memref.alloc() : memref<3xf32, #gpu.address_space<global>>
// CHECK:       memref.copy %[[TABLE]], %[[COPY]]
// CHECK:       scf.for
// CHECK:         linalg.generic {{.*}} ins(%[[COPY]] :
// CHECK:       memref.dealloc %[[COPY]]
func.func @constant(%n: index, %x: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = memref.get_global @table : memref<3xf32>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%t : memref<3xf32>) outs(%x : memref<3xf32>) {
      ^bb0(%a: f32, %b: f32):
        %p = arith.addf %a, %b : f32
        linalg.yield %p : f32
    }
  }
  return
}

// A loop that is not parallel goes to the device with all that it accesses, if
// it accesses something there; else it stays.

// CHECK-LABEL: func.func @sequential(
// CHECK:       memref.store %{{.*}} : memref<?xindex, #gpu.address_space<global>>
// CHECK:       memref.store %{{.*}} : memref<8xindex>
func.func @sequential(%x: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %list = memref.alloc(%n) : memref<?xindex>
  linalg.fill ins(%c0 : index) outs(%x : memref<?xindex>)
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xindex>
    memref.store %v, %list[%i] : memref<?xindex>
  }
  memref.dealloc %list : memref<?xindex>
  %own = memref.alloca() : memref<8xindex>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %i, %own[%i] : memref<8xindex>
  }
  return
}

// A slot that a kernel accesses is memory of the device.

// CHECK-LABEL: func.func @slot(
// CHECK:       %[[SLOT:.*]] = memref.alloc() : memref<f32, #gpu.address_space<global>>
// CHECK:       linalg.fill {{.*}} outs(%[[SLOT]]
// CHECK:       memref.dealloc %[[SLOT]]
// CHECK:       return
func.func @slot() -> f32 {
  %one = arith.constant 1.0 : f32
  %s = memref.alloca() : memref<f32>
  linalg.fill ins(%one : f32) outs(%s : memref<f32>)
  %v = memref.load %s[] : memref<f32>
  return %v : f32
}

// What the host does for the storage of sparse tensors gets copies; what it
// writes is copied back.

// CHECK-LABEL: func.func @staged(
// CHECK:       %[[IN:.*]] = memref.alloc(%{{.*}}) : memref<?x2xindex>
// CHECK:       memref.copy %{{.*}}, %[[IN]]
// CHECK:       %[[OUT:.*]] = memref.alloc(%{{.*}}) : memref<?xindex>
// CHECK:       memref.copy %[[DEVICE:.*]], %[[OUT]]
// CHECK:       sparse_autograd.sort_entries {{.*}}%[[IN]]{{.*}}%[[OUT]]
// CHECK:       memref.copy %[[OUT]], %[[DEVICE]]
// CHECK:       return
func.func @staged(%n: index) {
  %c0 = arith.constant 0 : index
  %coordinates = memref.alloc(%n) : memref<?x2xindex>
  %order = memref.alloc(%n) : memref<?xindex>
  linalg.fill ins(%c0 : index) outs(%coordinates : memref<?x2xindex>)
  sparse_autograd.sort_entries ins(%coordinates : memref<?x2xindex>) outs(%order : memref<?xindex>)
  linalg.fill ins(%c0 : index) outs(%order : memref<?xindex>)
  memref.dealloc %coordinates : memref<?x2xindex>
  memref.dealloc %order : memref<?xindex>
  return
}

// A private function takes what its callers have on the device.

// CHECK-LABEL: func.func private @callee(
// CHECK-SAME:    memref<4xf32, #gpu.address_space<global>>) -> memref<4xf32, #gpu.address_space<global>>
func.func private @callee(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}
// CHECK-LABEL: func.func @caller(
// CHECK:       call @callee({{.*}}) : (memref<4xf32, #gpu.address_space<global>>) -> memref<4xf32, #gpu.address_space<global>>
func.func @caller() {
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<4xf32>)
  %b = func.call @callee(%a) : (memref<4xf32>) -> memref<4xf32>
  memref.dealloc %b : memref<4xf32>
  return
}

// What a library of the device takes and gives is there.

// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[P:[^:]*]]: memref<?xindex>, %[[V:[^:]*]]: memref<?xf32>,
func.func @product(%p: memref<?xindex>, %v: memref<?xf32>, %m: index) -> memref<?xf32> {
  // CHECK-DAG: memref.copy %[[P]], %[[DP:.*]] : memref<?xindex> to memref<?xindex, #gpu.address_space<global>>
  // CHECK-DAG: memref.copy %[[V]], %[[DV:.*]] : memref<?xf32> to memref<?xf32, #gpu.address_space<global>>
  // CHECK: %[[N:.*]] = sparse_autograd.begin_sparse_product %{{.*}} ins(%[[DP]], %[[DP]], %[[DV]], %[[DP]], %[[DP]], %[[DV]] :
  %n = sparse_autograd.begin_sparse_product %m x %m x %m
      ins(%p, %p, %v, %p, %p, %v : memref<?xindex>, memref<?xindex>, memref<?xf32>, memref<?xindex>, memref<?xindex>, memref<?xf32>)
  // CHECK: %[[Q:.*]] = memref.alloc(%[[N]]) : memref<?xindex, #gpu.address_space<global>>
  // CHECK: %[[W:.*]] = memref.alloc(%[[N]]) : memref<?xf32, #gpu.address_space<global>>
  %q = memref.alloc(%n) : memref<?xindex>
  %w = memref.alloc(%n) : memref<?xf32>
  // CHECK: sparse_autograd.end_sparse_product ins(%[[DP]], {{.*}}) outs(%[[Q]], %[[Q]], %[[W]] :
  sparse_autograd.end_sparse_product
      ins(%p, %p, %v, %p, %p, %v : memref<?xindex>, memref<?xindex>, memref<?xf32>, memref<?xindex>, memref<?xindex>, memref<?xf32>)
      outs(%q, %q, %w : memref<?xindex>, memref<?xindex>, memref<?xf32>)
  memref.dealloc %q : memref<?xindex>
  return %w : memref<?xf32>
}
