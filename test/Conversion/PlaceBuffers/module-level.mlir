// RUN: sparse-opt %s --sparse-autograd-place-buffers | FileCheck %s

// What stands outside of functions is on no device.

// CHECK: memref.get_global @g : memref<4xf64>
%g = memref.get_global @g : memref<4xf64>
memref.global @g : memref<4xf64>
