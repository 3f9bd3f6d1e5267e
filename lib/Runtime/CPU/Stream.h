//===- Stream.h - Stores past the caches ------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What sparseAutogradStream stores waits in buffers that no other processor
// sees. Whoever hands the results of compiled code to other threads, a parallel
// loop and the call of an entry, sends it on first.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CPU_STREAM_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CPU_STREAM_H

namespace sparse_autograd {
namespace runtime {

/// Others see what the calling thread has streamed no later than what it stores
/// from here on.
void finishStreams();

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CPU_STREAM_H
