//===- SameFunction.h - Whether functions are called alike ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_UNIT_DEVICE_SAMEFUNCTION_H
#define SPARSEAUTOGRAD_TEST_UNIT_DEVICE_SAMEFUNCTION_H

#include <type_traits>

/// Whether two types are passed alike: pointers, enumerations as numbers of
/// their size, and numbers.
template <typename Ours, typename Theirs>
constexpr bool isSameParameter =
    sizeof(Ours) == sizeof(Theirs) &&
    (std::is_pointer_v<Ours>) == (std::is_pointer_v<Theirs>) &&
    (std::is_pointer_v<Ours> || std::is_enum_v<Theirs> ||
     std::is_same_v<Ours, Theirs>);

/// Whether two functions can be called alike; does not compile if they differ
/// in their numbers of parameters.
template <typename Ours, typename Theirs>
struct IsSameFunction : std::false_type {};
template <typename OurResult, typename... Ours, typename TheirResult,
          typename... Theirs>
struct IsSameFunction<OurResult (*)(Ours...), TheirResult (*)(Theirs...)>
    : std::bool_constant<isSameParameter<OurResult, TheirResult> &&
                         (isSameParameter<Ours, Theirs> && ...)> {};

#endif // SPARSEAUTOGRAD_TEST_UNIT_DEVICE_SAMEFUNCTION_H
