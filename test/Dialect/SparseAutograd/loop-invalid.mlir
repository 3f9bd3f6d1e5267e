// RUN: sparse-opt %s --split-input-file --verify-diagnostics

func.func @rank(%a: memref<f32>, %b: memref<8xf32>, %k: index, %z: f32) -> f32 {
  // expected-error@+1 {{must have factors with a dimension to sum over}}
  %s = sparse_autograd.inner_product %a[] along 0, %b[] along 0, %k from %z : memref<f32>, memref<8xf32>, f32
  return %s : f32
}

// -----

func.func @dim(%a: memref<8xf32>, %b: memref<8xf32>, %k: index, %z: f32) -> f32 {
  // expected-error@+1 {{sums along dimension 1 of a factor of rank 1}}
  %s = sparse_autograd.inner_product %a[] along 0, %b[] along 1, %k from %z : memref<8xf32>, memref<8xf32>, f32
  return %s : f32
}

// -----

func.func @indices(%a: memref<8x8xf32>, %b: memref<8xf32>, %k: index, %z: f32) -> f32 {
  // expected-error@+1 {{must have 1 indices of a factor of rank 2, all but that of the sum}}
  %s = sparse_autograd.inner_product %a[] along 0, %b[] along 0, %k from %z : memref<8x8xf32>, memref<8xf32>, f32
  return %s : f32
}

// -----

func.func @unequal(%a: memref<8xbf16>, %b: memref<8xf16>, %k: index, %z: f32) -> f32 {
  // expected-error@+1 {{must have factors of the type of the sum, or of f16 or bf16 with a sum of f32}}
  %s = sparse_autograd.inner_product %a[] along 0, %b[] along 0, %k from %z : memref<8xbf16>, memref<8xf16>, f32
  return %s : f32
}

// -----

func.func @wide(%a: memref<8xf32>, %b: memref<8xf32>, %k: index, %z: f64) -> f64 {
  // expected-error@+1 {{must have factors of the type of the sum, or of f16 or bf16 with a sum of f32}}
  %s = sparse_autograd.inner_product %a[] along 0, %b[] along 0, %k from %z : memref<8xf32>, memref<8xf32>, f64
  return %s : f64
}

// -----

func.func @mixed(%a: memref<8xbf16>, %b: tensor<8xbf16>, %k: index, %z: f32) -> f32 {
  // expected-error@+1 {{must have factors that are all tensors or all buffers}}
  %s = sparse_autograd.inner_product %a[] along 0, %b[] along 0, %k from %z : memref<8xbf16>, tensor<8xbf16>, f32
  return %s : f32
}

// -----

func.func @coordinates(%a: memref<4xbf16>, %c: tensor<1xi8>, %b: memref<8xbf16>, %k: index, %z: f32) -> f32 {
  // expected-error@+1 {{must have factors that are all tensors or all buffers}}
  %s = sparse_autograd.inner_product %a[] by %c along 0, %b[] along 0, %k from %z : memref<4xbf16> by tensor<1xi8>, memref<8xbf16>, f32
  return %s : f32
}

// -----

func.func @along(%a: memref<4x8xbf16>, %c: memref<4xi8>, %b: memref<8xbf16>, %i: index, %k: index, %z: f32) -> f32 {
  // expected-error@+1 {{must store two of four terms along the last dimension of the left factor, not along 0}}
  %s = sparse_autograd.inner_product %a[%i] by %c along 0, %b[] along 0, %k from %z : memref<4x8xbf16> by memref<4xi8>, memref<8xbf16>, f32
  return %s : f32
}
