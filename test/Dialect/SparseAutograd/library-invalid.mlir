// RUN: sparse-opt %s --split-input-file --verify-diagnostics

func.func @indices(%p: memref<?xindex>, %c: memref<?xi32>, %v: memref<?xf64>, %x: memref<?x?xf64>, %scale: f64, %m: index) {
  // expected-error @below {{'sparse_autograd.offer_product' op must have positions and coordinates of one type}}
  %done = sparse_autograd.offer_product %scale * %m x %m
      ins(%p, %c, %v, %x : memref<?xindex>, memref<?xi32>, memref<?xf64>, memref<?x?xf64>)
      outs(%x : memref<?x?xf64>)
  return
}

// -----

func.func @values(%p: memref<?xindex>, %v: memref<?xf32>, %x: memref<?x?xf64>, %scale: f64, %m: index) {
  // expected-error @below {{'sparse_autograd.offer_sampled_product' op must have values and matrices of one type}}
  %done = sparse_autograd.offer_sampled_product %scale * %m x %m
      ins(%p, %p, %x, %x : memref<?xindex>, memref<?xindex>, memref<?x?xf64>, memref<?x?xf64>)
      outs(%v : memref<?xf32>)
  return
}

// -----

func.func @transposed(%p: memref<?xindex>, %v: memref<?xf64>, %x: memref<?x?xf64>, %scale: f64, %m: index) {
  // expected-error @below {{'sparse_autograd.offer_product' op writes to rows; its result is not transposed}}
  %done = sparse_autograd.offer_product %scale * %m x %m
      ins(%p, %p, %v, %x : memref<?xindex>, memref<?xindex>, memref<?xf64>, memref<?x?xf64>)
      outs(%x : memref<?x?xf64>) {x_transposed}
  return
}

// -----

func.func @halves(%p: memref<?xindex>, %v: memref<?xf16>, %x: memref<?x?xf16>, %scale: f64, %m: index) {
  // expected-error @below {{operand #5 must be}}
  %done = sparse_autograd.offer_product %scale * %m x %m
      ins(%p, %p, %v, %x : memref<?xindex>, memref<?xindex>, memref<?xf16>, memref<?x?xf16>)
      outs(%x : memref<?x?xf16>)
  return
}
