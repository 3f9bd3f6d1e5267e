// RUN: sparse-opt %s --sparse-autograd-launch-to-runtime --split-input-file --verify-diagnostics

// expected-error @below {{'gpu.binary' op has an object that no device takes; ask for 'chips', 'ptx' or 'bitcode' of sparse-autograd-kernel-to-object}}
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, fatbin = "code">]

// -----

// expected-error @below {{'gpu.binary' op has bitcode twice; the emulator needs that of one chip}}
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, offload = "bitcode of 80">,
                     #gpu.object<#nvvm.target<chip = "sm_90">, offload = "bitcode of 90">]

// -----

// expected-error @below {{'gpu.binary' op has code for no chip of NVIDIA's: #nvvm.target<chip = "gfx90a">}}
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "gfx90a">, bin = "code">]

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @f(%n: index) {
    // expected-error @below {{'gpu.launch_func' op launches a kernel of 'kernels', of which there is no code; compile it with sparse-autograd-kernel-to-object}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n)
    return
  }
}

// -----

module attributes {gpu.container_module} {
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, bin = "code">]
func.func @f(%n: index) {
  %t = gpu.wait async
  // expected-error @below {{'gpu.launch_func' op cannot be a call of the runtime: launches are in the order of the program, without tokens, streams and clusters of their own}}
  %u = gpu.launch_func async [%t] @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n)
  return
}
}

// -----

func.func @f(%x: memref<4x4xf32, strided<[8, 1]>>, %y: memref<4x4xf32, #gpu.address_space<global>>) {
  // expected-error @below {{'memref.copy' op between the host and the device, or on the device, is of memrefs whose elements lie without gaps; copy parts of a tensor in a kernel}}
  memref.copy %x, %y : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32, #gpu.address_space<global>>
  return
}
