//===- ConvertElements.h - Numbers of one type as another -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an argument makes of the numbers of a file. A number that was text is
// rounded; one that was stored with a type is never changed.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_CONVERTELEMENTS_H
#define SPARSEAUTOGRAD_IO_CONVERTELEMENTS_H

#include "SparseAutograd/IO/DenseArray.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace sparse_autograd::io {

/// Whether `to` holds every number of the type `from`: f16 and bf16 widen to
/// f32, f32 to f64, integers to longer ones and to floats whose precision they
/// fit. An i1 is no number.
bool isWidening(ElementType from, ElementType to);

/// The elements as `type`: signed integers, or floats. A number of a text
/// (`DenseArray::isText`) is rounded to the nearest float, once; one that has a
/// type must be exact. An error for a number that is not, for an overflow, for
/// what is no integer or does not fit. As an i1, 0 and 1 are taken alone.
/// `describe` names an element for the diagnostic.
llvm::Expected<DenseArray>
convertElements(const DenseArray &array, ElementType type,
                const SizeLimits &limits, llvm::StringRef name,
                llvm::function_ref<std::string(int64_t)> describe);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_CONVERTELEMENTS_H
