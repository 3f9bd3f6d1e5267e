//===- Assembler.cpp - ptxas, run as a program ----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"
#include "SparseAutograd/IO/ScratchFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace sparse_autograd;
using llvm::StringRef;
using llvm::Twine;

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(message);
}

static std::string readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// The number before `unit` in `line`, such as 24 in "Used 24 registers"; 0 if
/// there is none.
static unsigned getNumberBefore(StringRef line, StringRef unit) {
  size_t end = line.find((" " + unit).str());
  unsigned number = 0;
  if (end != StringRef::npos)
    line.take_front(end).rsplit(' ').second.getAsInteger(10, number);
  return number;
}

std::vector<KernelResources> sparse_autograd::parseResources(StringRef report) {
  std::vector<KernelResources> kernels;
  while (!report.empty()) {
    StringRef line;
    std::tie(line, report) = report.split('\n');
    auto [before, name] = line.split("Compiling entry function '");
    if (!name.empty()) {
      kernels.emplace_back();
      kernels.back().kernel = name.split('\'').first.str();
    } else if (kernels.empty()) {
      continue;
    } else if (line.contains("bytes stack frame")) {
      KernelResources &kernel = kernels.back();
      kernel.stackBytes = getNumberBefore(line, "bytes stack frame");
      kernel.spillStoreBytes = getNumberBefore(line, "bytes spill stores");
      kernel.spillLoadBytes = getNumberBefore(line, "bytes spill loads");
    } else if (line.contains(" registers")) {
      kernels.back().registers = getNumberBefore(line, "registers");
      kernels.back().sharedBytes = getNumberBefore(line, "bytes smem");
    }
  }
  return kernels;
}

bool sparse_autograd::relaxOccupancy(std::string &ptx,
                                     llvm::ArrayRef<KernelResources> kernels) {
  constexpr StringRef directive = ".minnctapersm ";
  bool changed = false;
  for (const KernelResources &kernel : kernels) {
    if (kernel.spillStoreBytes + kernel.spillLoadBytes == 0)
      continue;
    size_t entry = ptx.find(".entry " + kernel.kernel + "(");
    size_t body = ptx.find('{', entry);
    size_t place = ptx.find(directive, entry);
    if (place == std::string::npos || place > body)
      continue;
    place += directive.size();
    size_t end = ptx.find_first_not_of("0123456789", place);
    unsigned blocks = 0;
    if (StringRef(ptx).slice(place, end).getAsInteger(10, blocks) || blocks < 2)
      continue;
    ptx.replace(place, end - place, std::to_string(blocks / 2));
    changed = true;
  }
  return changed;
}

llvm::Expected<AssembledCode>
sparse_autograd::assemble(StringRef ptxas, StringRef ptx, StringRef chip) {
  if (!llvm::sys::fs::can_execute(ptxas))
    return makeError("there is no assembler at '" + ptxas +
                     "'; name the folder of a CUDA toolkit with 'toolkit', or "
                     "ask for PTX alone");
  auto source = io::ScratchFile::create("ptx", ptx);
  if (!source)
    return source.takeError();
  auto object = io::ScratchFile::create("cubin");
  if (!object)
    return object.takeError();
  auto output = io::ScratchFile::create("txt");
  if (!output)
    return output.takeError();
  std::string architecture = ("--gpu-name=" + chip).str();
  StringRef arguments[] = {ptxas,           architecture,
                           "--verbose",     (*source)->getPath(),
                           "--output-file", (*object)->getPath()};
  std::optional<StringRef> redirects[] = {StringRef(), (*output)->getPath(),
                                          (*output)->getPath()};
  std::string problem;
  int code = llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt,
                                       redirects, /*SecondsToWait=*/0,
                                       /*MemoryLimit=*/0, &problem);
  std::string report = readFile((*output)->getPath());
  if (code != 0)
    return makeError(
        "'" + ptxas + "' failed for " + chip + ": " +
        (problem.empty() ? StringRef(report).trim() : StringRef(problem)));
  AssembledCode assembled;
  assembled.cubin = readFile((*object)->getPath());
  assembled.kernels = parseResources(report);
  if (assembled.cubin.empty())
    return makeError("'" + ptxas + "' made no code for " + chip);
  return assembled;
}
