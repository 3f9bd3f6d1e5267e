//===- Isolation.cpp - inputs that may end the process --------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Isolation.h"

#include "llvm/Support/MemoryBuffer.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sparse_autograd::fuzz;

namespace {
/// What parent and child share.
struct Shared {
  std::atomic<uint64_t> input;
  char stage[256];
  std::atomic<uint64_t> counts[16];
  std::atomic<uint32_t> numReported;
  char reports[1 << 20];
};
} // namespace

static Shared &getShared() {
  static auto *shared = static_cast<Shared *>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *shared;
}

void sparse_autograd::fuzz::setStage(llvm::StringRef stage) {
  char *place = getShared().stage;
  size_t size = std::min(stage.size(), sizeof(Shared::stage) - 1);
  std::memcpy(place, stage.data(), size);
  place[size] = 0;
}

/// The status of a child that leaves the inputs behind this one to another.
static constexpr int left = 7;

void sparse_autograd::fuzz::leaveProcess() { _exit(left); }

void sparse_autograd::fuzz::report(llvm::StringRef text) {
  Shared &shared = getShared();
  uint32_t at = shared.numReported;
  if (at + text.size() > sizeof(Shared::reports))
    return;
  std::memcpy(shared.reports + at, text.data(), text.size());
  shared.numReported = at + text.size();
}

std::string sparse_autograd::fuzz::takeReports() {
  Shared &shared = getShared();
  return {shared.reports, shared.numReported.exchange(0)};
}

void sparse_autograd::fuzz::count(unsigned index) {
  ++getShared().counts[index];
}

uint64_t sparse_autograd::fuzz::getCount(unsigned index) {
  return getShared().counts[index];
}

static void limitTime(unsigned seconds) {
  itimerval limit{};
  limit.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
}

void sparse_autograd::fuzz::runIsolated(
    uint64_t begin, uint64_t end, unsigned seconds,
    llvm::function_ref<void(uint64_t)> run,
    llvm::function_ref<void(const Crash &)> onCrash) {
  // What contexts make unique adds up in a child.
  constexpr uint64_t batch = 500;
  Shared &shared = getShared();
  char logName[] = "/tmp/fuzz-ir-XXXXXX";
  int log = mkstemp(logName);
  unlink(logName);
  for (uint64_t next = begin; next < end;) {
    uint64_t last = std::min(next + batch, end);
    if (ftruncate(log, 0) != 0)
      return;
    fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
      dup2(log, STDERR_FILENO);
      lseek(log, 0, SEEK_SET);
      rlimit memory{rlim_t(6) << 30, rlim_t(6) << 30};
      setrlimit(RLIMIT_AS, &memory);
      rlimit core{0, 0};
      setrlimit(RLIMIT_CORE, &core);
      for (; next < last; ++next) {
        shared.input = next;
        limitTime(seconds);
        run(next);
      }
      _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      next = last;
      continue;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == left) {
      next = shared.input + 1;
      continue;
    }
    Crash crash;
    crash.input = shared.input;
    crash.stage = shared.stage;
    crash.isHang = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
    off_t size = lseek(log, 0, SEEK_END);
    crash.log.resize(std::min<off_t>(size, 1 << 16));
    ssize_t got = pread(log, crash.log.data(), crash.log.size(), 0);
    crash.log.resize(std::max<ssize_t>(got, 0));
    onCrash(crash);
    next = crash.input + 1;
  }
  close(log);
}
