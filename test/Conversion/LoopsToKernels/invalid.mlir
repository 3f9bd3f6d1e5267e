// RUN: sparse-opt %s --split-input-file --sparse-autograd-loops-to-kernels --verify-diagnostics

// A kernel hands numbers to the host, and nothing else.
func.func @vector(%x: memref<?xvector<4xf32>, #gpu.address_space<global>>, %y: memref<?xvector<4xf32>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<4xf32>
  // expected-error @below {{results in a 'vector<4xf32>', which no kernel hands to the host}}
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%o = %zero) -> vector<4xf32> {
    %v = memref.load %x[%i] : memref<?xvector<4xf32>, #gpu.address_space<global>>
    %t = arith.addf %o, %v : vector<4xf32>
    scf.yield %t : vector<4xf32>
  }
  memref.store %s, %y[%c0] : memref<?xvector<4xf32>>
  return
}

// -----

// There is no buffer in place of the one that is left out.
func.func @buffer(%x: memref<?xf32, #gpu.address_space<global>>, %n: index, %which: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %part = scf.if %which -> memref<?xf32, strided<[1], offset: ?>, #gpu.address_space<global>> {
      %v = memref.load %x[%i] : memref<?xf32, #gpu.address_space<global>>
      %is = arith.cmpf oge, %v, %one : f32
      // expected-error @below {{is followed by a 'memref<?xf32, strided<[1], offset: ?>, #gpu.address_space<global>>' that its block hands on, which in a kernel no other value can replace}}
      cf.assert %is, "too small"
      %p = memref.subview %x[%i] [%n] [1] : memref<?xf32, #gpu.address_space<global>> to memref<?xf32, strided<[1], offset: ?>, #gpu.address_space<global>>
      scf.yield %p : memref<?xf32, strided<[1], offset: ?>, #gpu.address_space<global>>
    } else {
      %p = memref.subview %x[0] [%n] [1] : memref<?xf32, #gpu.address_space<global>> to memref<?xf32, strided<[1]>, #gpu.address_space<global>>
      %q = memref.cast %p : memref<?xf32, strided<[1]>, #gpu.address_space<global>> to memref<?xf32, strided<[1], offset: ?>, #gpu.address_space<global>>
      scf.yield %q : memref<?xf32, strided<[1], offset: ?>, #gpu.address_space<global>>
    }
    memref.store %one, %part[%c0] : memref<?xf32, strided<[1], offset: ?>, #gpu.address_space<global>>
  }
  return
}
