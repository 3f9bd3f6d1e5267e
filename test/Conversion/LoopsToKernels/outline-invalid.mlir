// RUN: sparse-opt %s --sparse-autograd-outline-kernels --verify-diagnostics

// Kernels of a program become functions of one module, and nothing else does.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // expected-error @below {{stands beside the functions of a gpu.module, which would be lost: a module of kernels that a program brings has functions alone}}
    memref.global "private" @shared : memref<4xf32, #gpu.address_space<workgroup>>
    gpu.func @reads(%x: memref<4xf32>, %i: index) kernel {
      %g = memref.get_global @shared : memref<4xf32, #gpu.address_space<workgroup>>
      %e = memref.load %g[%i] : memref<4xf32, #gpu.address_space<workgroup>>
      memref.store %e, %x[%i] : memref<4xf32>
      gpu.return
    }
  }
}
