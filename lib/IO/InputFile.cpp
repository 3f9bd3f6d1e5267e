//===- InputFile.cpp - Files as readers see them ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/InputFile.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "llvm/ADT/ScopeExit.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace sparse_autograd::io;

static const char *describeKind(mode_t mode) {
  if (S_ISDIR(mode))
    return "a directory";
  if (S_ISFIFO(mode))
    return "a FIFO";
  if (S_ISSOCK(mode))
    return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode))
    return "a device";
  return "not a file";
}

static Error checkRegular(StringRef path, const struct stat &status) {
  if (S_ISREG(status.st_mode))
    return Error::success();
  return fileError(path, Twine("this is ") + describeKind(status.st_mode),
                   "give the path of a regular file");
}

static Error systemError(StringRef path, const Twine &action, int code) {
  return fileError(path, "cannot " + action + ": " + std::strerror(code),
                   "check the path and its permissions");
}

Expected<AlignedBuffer>
sparse_autograd::io::readFile(StringRef path, const SizeLimits &limits) {
  if (path.empty() || path.contains('\0'))
    return fileError(path, "this is not a file name",
                     "give the path of a regular file");
  std::string name = path.str();
  // The kind is looked at before the file is opened, which on a device can have
  // effects, and again after, since the name may mean another file by then. A
  // FIFO opened without O_NONBLOCK would wait for a writer.
  struct stat status;
  if (::stat(name.c_str(), &status) != 0)
    return systemError(path, "open the file", errno);
  if (Error error = checkRegular(path, status))
    return std::move(error);
  int file = ::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (file < 0)
    return systemError(path, "open the file", errno);
  scope_exit closeFile([&] { ::close(file); });
  if (::fstat(file, &status) != 0)
    return systemError(path, "examine the file", errno);
  if (Error error = checkRegular(path, status))
    return std::move(error);

  uint64_t size = status.st_size;
  if (size > limits.fileBytes)
    return fileError(path,
                     "the file has " + Twine(size) +
                         " bytes, more than the limit of " +
                         Twine(limits.fileBytes),
                     "use a smaller file or raise the limit");
  AlignedBuffer buffer;
  if (!buffer.resize(size))
    return fileError(path, "no memory for " + Twine(size) + " bytes",
                     "use a smaller file or a machine with more memory");
  uint64_t position = 0;
  while (position < size) {
    ssize_t count = ::read(file, buffer.data() + position, size - position);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError(path, "read the file", errno);
    if (count == 0)
      return fileError(path, "the file became shorter while it was read",
                       "read it when nothing writes to it");
    position += count;
  }
  if (size == 0)
    return fileError(path, "the file is empty", "give a file with data");
  return buffer;
}

Expected<AlignedBuffer>
sparse_autograd::io::readExpandedFile(StringRef path,
                                      const SizeLimits &limits) {
  Expected<AlignedBuffer> bytes = readFile(path, limits);
  if (!bytes || !isGzip(bytes->str()))
    return bytes;
  Expected<AlignedBuffer> expanded = expandGzip(bytes->str(), path, limits);
  if (expanded && expanded->size() == 0)
    return fileError(path, "the file expands to nothing",
                     "give a file with data");
  return expanded;
}
