// RUN: sparse-opt %s --split-input-file --allow-unregistered-dialect --sparse-autograd-place-buffers --verify-diagnostics

// expected-error @below {{is a public function that the program itself calls, which the GPU target has no code for; call a private one in both places}}
func.func @called(%x: memref<4xf32>) {
  return
}
func.func @caller(%x: memref<4xf32>) {
  func.call @called(%x) : (memref<4xf32>) -> ()
  return
}

// -----

func.func @unknown(%x: memref<4xf32>) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%x : memref<4xf32>)
  // expected-error @below {{accesses the memory of the device, which the host cannot do}}
  "test.use"(%x) : (memref<4xf32>) -> ()
  return
}

// -----

// expected-error @below {{is a public function with a buffer in a memory space: what it takes and returns is on the host until this pass has placed it}}
func.func @placed(%n: index) -> memref<?xf32, #gpu.address_space<global>> {
  %x = memref.alloc(%n) : memref<?xf32, #gpu.address_space<global>>
  return %x : memref<?xf32, #gpu.address_space<global>>
}

// -----

func.func private @declared(memref<4xf32>)
func.func @calls_declared(%x: memref<4xf32>) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%x : memref<4xf32>)
  // expected-error @below {{passes a buffer of the device to 'declared', which the module does not define; define it, or call it with a buffer that no kernel accesses}}
  func.call @declared(%x) : (memref<4xf32>) -> ()
  return
}
