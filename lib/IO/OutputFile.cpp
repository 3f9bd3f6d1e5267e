//===- OutputFile.cpp - Files that appear whole or not at all ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/OutputFile.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace llvm;
using namespace sparse_autograd::io;

static Error systemError(StringRef path, const Twine &action, int code) {
  return fileError(path, "cannot " + action + ": " + std::strerror(code),
                   "check the folder, its permissions and the free space");
}

Expected<std::unique_ptr<OutputFile>> OutputFile::create(StringRef path) {
  if (path.empty() || path.contains('\0') || path.ends_with("/"))
    return fileError(path, "this is not a file name",
                     "give the path of the file to write");
  std::unique_ptr<OutputFile> file(new OutputFile());
  file->path = file->target = path.str();

  struct stat status;
  bool replaces = ::lstat(file->target.c_str(), &status) == 0;
  if (replaces && S_ISLNK(status.st_mode)) {
    char resolved[PATH_MAX];
    if (!::realpath(file->target.c_str(), resolved))
      return systemError(path, "follow the symbolic link", errno);
    file->target = resolved;
    replaces = ::stat(resolved, &status) == 0;
  }
  if (replaces && !S_ISREG(status.st_mode))
    return fileError(path, "something that is not a regular file has this name",
                     "choose another name");

  SmallString<128> folder = sys::path::parent_path(file->target);
  std::string prefix = folder.empty()         ? std::string()
                       : folder.back() == '/' ? folder.str().str()
                                              : (folder + "/").str();
  // Another process may take the same name at the same time: O_EXCL decides.
  constexpr int attempts = 100;
  int descriptor = -1;
  for (int attempt = 0; attempt < attempts && descriptor < 0; ++attempt) {
    file->temporary = prefix + ".sparse-autograd-" +
                      std::to_string(::getpid()) + "-" +
                      std::to_string(attempt) + ".tmp";
    descriptor =
        ::open(file->temporary.c_str(),
               O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0 && errno != EEXIST) {
      int code = errno;
      file->temporary.clear();
      return systemError(path, "create a file in its folder", code);
    }
  }
  if (descriptor < 0) {
    file->temporary.clear();
    return fileError(path, "no free name for a temporary file in its folder",
                     "remove old files called .sparse-autograd-*.tmp");
  }
  // A signal between the two leaves an empty file; before, it would remove that
  // of another process.
  sys::RemoveFileOnSignal(file->temporary);
  file->stream =
      std::make_unique<raw_fd_ostream>(descriptor, /*shouldClose=*/false);
  file->descriptor = descriptor;
  if (replaces && ::fchmod(descriptor, status.st_mode & 0777) != 0)
    return systemError(path, "set the permissions", errno);
  return file;
}

void OutputFile::discard() {
  if (stream) {
    stream->flush();
    // The stream ends the process over an error that nobody has looked at.
    stream->clear_error();
    stream.reset();
  }
  if (descriptor >= 0)
    ::close(std::exchange(descriptor, -1));
  if (!temporary.empty()) {
    ::unlink(temporary.c_str());
    sys::DontRemoveFileOnSignal(temporary);
  }
  temporary.clear();
}

OutputFile::~OutputFile() { discard(); }

Error OutputFile::finish() {
  stream->flush();
  std::error_code code = stream->error();
  if (!code && ::fsync(descriptor) != 0 && errno != EINVAL)
    code = std::error_code(errno, std::generic_category());
  // Some file systems report a failed write only here.
  if (!code && ::close(std::exchange(descriptor, -1)) != 0)
    code = std::error_code(errno, std::generic_category());
  if (code) {
    discard();
    return systemError(path, "write the file", code.value());
  }
  stream.reset();
  return Error::success();
}

Error OutputFile::rename(bool keepsOld) {
  struct stat status;
  isReplacing = ::lstat(target.c_str(), &status) == 0;
  if (keepsOld && isReplacing) {
    backup = temporary + ".old";
    if (::link(target.c_str(), backup.c_str()) != 0)
      backup.clear();
  }
  if (::rename(temporary.c_str(), target.c_str()) != 0) {
    int code = errno;
    dropBackup();
    discard();
    return systemError(path, "write the file", code);
  }
  sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
  return Error::success();
}

void OutputFile::undo() {
  if (!backup.empty())
    (void)::rename(backup.c_str(), target.c_str());
  else if (!isReplacing)
    ::unlink(target.c_str());
  backup.clear();
}

void OutputFile::dropBackup() {
  if (!backup.empty())
    ::unlink(backup.c_str());
  backup.clear();
}

Error OutputFile::commit() {
  if (Error error = finish())
    return error;
  return rename(/*keepsOld=*/false);
}

namespace {

/// Holds back the signals by which people end a process: what happens during
/// the life of the object happens as a whole, on whichever thread a signal
/// arrives.
class DeferSignals {
public:
  DeferSignals() {
    pending = 0;
    struct sigaction action = {};
    action.sa_handler = [](int signal) { pending = signal; };
    for (auto [signal, old] : llvm::zip_equal(signals, before))
      ::sigaction(signal, &action, &old);
  }
  ~DeferSignals() {
    for (auto [signal, old] : llvm::zip_equal(signals, before))
      ::sigaction(signal, &old, nullptr);
    if (pending)
      ::raise(pending);
  }
  DeferSignals(const DeferSignals &) = delete;
  DeferSignals &operator=(const DeferSignals &) = delete;

private:
  static constexpr int signals[] = {SIGHUP, SIGINT, SIGTERM};
  static inline volatile std::sig_atomic_t pending = 0;
  struct sigaction before[std::size(signals)];
};

} // namespace

Error OutputFile::commitAll(ArrayRef<std::unique_ptr<OutputFile>> files) {
  for (size_t i = 0; i < files.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (files[i]->target == files[j]->target)
        return fileError(files[i]->path, "two results would have this name",
                         "give each a file of its own");
  // Nearly all that can fail fails here, where nothing has its name yet.
  for (const std::unique_ptr<OutputFile> &file : files)
    if (Error error = file->finish())
      return error;
  DeferSignals defer;
  for (auto [index, file] : llvm::enumerate(files)) {
    Error error = file->rename(/*keepsOld=*/files.size() > 1);
    if (!error)
      continue;
    for (const std::unique_ptr<OutputFile> &done :
         llvm::reverse(files.take_front(index)))
      done->undo();
    return error;
  }
  for (const std::unique_ptr<OutputFile> &file : files)
    file->dropBackup();
  return Error::success();
}

Error sparse_autograd::io::flushStandardOutput() {
  outs().flush();
  std::error_code code = outs().error();
  // Else the stream ends the process with a message of its own.
  outs().clear_error();
  if ((std::fflush(stdout) != 0 || std::ferror(stdout)) && !code)
    code = std::error_code(errno, std::generic_category());
  std::clearerr(stdout);
  if (!code)
    return Error::success();
  return fileError("standard output", "cannot be written: " + code.message(),
                   "check the free space, and what reads the output");
}
