// RUN: sparse-opt %s --split-input-file --sparse-autograd-fuse-kernels=whole-rows | FileCheck %s
// RUN: sparse-opt %s --split-input-file --sparse-autograd-fuse-kernels | FileCheck %s --check-prefix=CHUNKS

#device = #gpu.address_space<global>

// A sampled product, the largest of each row, and the product with it, behind a
// copy in another order that is not fused: one loop over rows. What the product
// takes, and what is asserted of it, comes before. Otherwise the sampled product
// is left to be cut into chunks.

// CHECK-LABEL: func.func @attend(
//  CHECK-SAME:     %[[Q:[^:]+]]: memref<?x64xf32, {{[^:]*}}, %[[K:[^:]+]]: memref<?x64xf32, {{[^:]*}}, %[[V:[^:]+]]: memref<?x64xf32, {{.*}}, %[[N:[^:]+]]: index, %[[M:[^:]+]]: index)
//       CHECK:   %[[SCORES:.+]] = memref.alloc
//       CHECK:   cf.assert
//       CHECK:   %[[OUT:.+]] = memref.alloc
//       CHECK:   scf.for %[[I:.+]] = %c0 to %[[N]] step %c1 {
//       CHECK:     %[[LARGEST:.+]] = scf.for %[[E:.+]] = %[[BEGIN:.+]] to %[[END:.+]] step %c1 iter_args(%[[LARGE:.+]] = %{{.+}}) -> (f32) {
//       CHECK:       %[[SCORE:.+]] = scf.for
//       CHECK:         memref.load %[[Q]][%[[I]],
//       CHECK:       memref.store %[[SCORE]], %[[SCORES]][%[[E]]]
//       CHECK:       arith.maximumf %[[LARGE]], %[[SCORE]]
//       CHECK:     scf.for %[[C:.+]] = %c0 to %{{.+}} step %c1 {
//       CHECK:       %[[SUM:.+]] = scf.for %{{.+}} = %[[BEGIN]] to %[[END]]
//       CHECK:         arith.mulf %{{.+}}, %[[LARGEST]]
//       CHECK:       memref.store %[[SUM]], %[[OUT]][%[[I]], %[[C]]]
//       CHECK:   } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
//       CHECK:   scf.parallel
//       CHECK:   return

// CHUNKS-LABEL: func.func @attend(
//       CHUNKS:   scf.for
//       CHUNKS:     scf.for
//       CHUNKS:       scf.for
//   CHUNKS-NOT:   arith.maximumf
//       CHUNKS:   } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
//       CHUNKS:   scf.for
//       CHUNKS:     arith.maximumf
//       CHUNKS:   return
func.func @attend(%q: memref<?x64xf32, #device>, %k: memref<?x64xf32, #device>, %v: memref<?x64xf32, #device>,
    %positions: memref<?xindex, #device>, %columns: memref<?xindex, #device>, %order: memref<?xindex, #device>,
    %n: index, %m: index) -> (memref<?xf32, #device>, memref<?x64xf32, #device>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %scores = memref.alloc(%m) : memref<?xf32, #device>
  %largest = memref.alloc(%n) : memref<?xf32, #device>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    scf.for %e = %begin to %end step %c1 {
      %j = memref.load %columns[%e] : memref<?xindex, #device>
      %s = scf.for %l = %c0 to %c64 step %c1 iter_args(%t = %zero) -> f32 {
        %a = memref.load %q[%i, %l] : memref<?x64xf32, #device>
        %b = memref.load %k[%j, %l] : memref<?x64xf32, #device>
        %p = arith.mulf %a, %b : f32
        %u = arith.addf %t, %p fastmath<reassoc> : f32
        scf.yield %u : f32
      }
      memref.store %s, %scores[%e] : memref<?xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, entries>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    %l = scf.for %e = %begin to %end step %c1 iter_args(%t = %least) -> f32 {
      %s = memref.load %scores[%e] : memref<?xf32, #device>
      %u = arith.maximumf %t, %s : f32
      scf.yield %u : f32
    } {sparse_autograd.schedule = #sparse_autograd.schedule<entries>}
    memref.store %l, %largest[%i] : memref<?xf32, #device>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  %other = memref.alloc(%m) : memref<?xf32, #device>
  scf.parallel (%p) = (%c0) to (%m) step (%c1) {
    %e = memref.load %order[%p] : memref<?xindex, #device>
    %s = memref.load %scores[%e] : memref<?xf32, #device>
    memref.store %s, %other[%p] : memref<?xf32, #device>
  }
  %out = memref.alloc(%n) : memref<?x64xf32, #device>
  %extent = memref.dim %v, %c0 : memref<?x64xf32, #device>
  %fits = arith.cmpi eq, %extent, %n : index
  cf.assert %fits, "the extents differ"
  scf.for %i = %c0 to %n step %c1 {
    scf.for %c = %c0 to %c64 step %c1 {
      %next = arith.addi %i, %c1 : index
      %begin = memref.load %positions[%i] : memref<?xindex, #device>
      %end = memref.load %positions[%next] : memref<?xindex, #device>
      %s = scf.for %e = %begin to %end step %c1 iter_args(%t = %zero) -> f32 {
        %j = memref.load %columns[%e] : memref<?xindex, #device>
        %a = memref.load %scores[%e] : memref<?xf32, #device>
        %w = memref.load %largest[%i] : memref<?xf32, #device>
        %b = memref.load %v[%j, %c] : memref<?x64xf32, #device>
        %x = arith.mulf %a, %w : f32
        %p = arith.mulf %x, %b : f32
        %u = arith.addf %t, %p fastmath<reassoc> : f32
        scf.yield %u : f32
      } {sparse_autograd.schedule = #sparse_autograd.schedule<entries>}
      memref.store %s, %out[%i, %c] : memref<?x64xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return %other, %out : memref<?xf32, #device>, memref<?x64xf32, #device>
}

// -----

#device = #gpu.address_space<global>

// What is in between writes what the second loop reads, or is no loop.

// CHECK-LABEL: func.func @behind(
//       CHECK:   scf.for
//       CHECK:   } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
//       CHECK:   scf.parallel
//       CHECK:   scf.for
//       CHECK:   } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
//       CHECK:   call @host
//       CHECK:   scf.for
//       CHECK:   } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
//       CHECK:   return
func.func private @host()
func.func @behind(%x: memref<?xf32, #device>, %y: memref<?xf32, #device>, %order: memref<?xindex, #device>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xf32, #device>
    %b = math.exp %a : f32
    memref.store %b, %x[%i] : memref<?xf32, #device>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.parallel (%p) = (%c0) to (%m) step (%c1) {
    %e = memref.load %order[%p] : memref<?xindex, #device>
    %a = memref.load %x[%p] : memref<?xf32, #device>
    memref.store %a, %y[%e] : memref<?xf32, #device>
  }
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xf32, #device>
    %b = memref.load %y[%i] : memref<?xf32, #device>
    %c = arith.addf %a, %b : f32
    memref.store %c, %y[%i] : memref<?xf32, #device>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  func.call @host() : () -> ()
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xf32, #device>
    %b = memref.load %y[%i] : memref<?xf32, #device>
    %c = arith.mulf %a, %b : f32
    memref.store %c, %y[%i] : memref<?xf32, #device>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}
