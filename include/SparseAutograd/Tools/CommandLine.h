//===- CommandLine.h - what the command lines of tools share ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The start and the end of every tool, and the options of the pipeline as
// options of a tool. For the programs of `tools` alone.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TOOLS_COMMANDLINE_H
#define SPARSEAUTOGRAD_TOOLS_COMMANDLINE_H

#include "SparseAutograd/Pipelines/PipelineOptions.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include <memory>
#include <vector>

namespace sparse_autograd {

/// A tool from its start to its end, constructed first in `main`:
///
/// * `--help` begins with `summary`, what the tool does, and `example`, a
///   command as one types it;
/// * `--version` says the version of this project and that of LLVM;
/// * what LLVM's own passes have registered by then is hidden or dropped;
/// * a standard output that cannot be written is an error and a status of 1,
///   whatever `main` returns.
class Tool {
public:
  /// What becomes of the options that LLVM's libraries have registered.
  enum class Others {
    Hide, ///< only in --help-hidden: for a tool with options of MLIR's drivers
    Drop  ///< gone: for a tool with a category of options of its own, which
          ///< may then have names of LLVM's
  };

  Tool(int &argc, char **&argv, llvm::StringRef summary,
       llvm::StringRef example, Others others);

private:
  llvm::InitLLVM initialize;
};

/// The options of the pipeline as options of a tool, with their descriptions:
/// what is given there is parsed into `options`. Those called as one of
/// `others` are left out: the tool has an option of that name, or no use for
/// it. Constructed before the command line is parsed.
class PipelineFlags {
public:
  PipelineFlags(PipelineOptions &options, llvm::cl::OptionCategory &category,
                llvm::ArrayRef<llvm::StringRef> others);
  ~PipelineFlags();

private:
  std::vector<std::unique_ptr<llvm::cl::Option>> flags;
};

/// Prints what is wrong; the status of the tool.
int fail(const llvm::Twine &why);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TOOLS_COMMANDLINE_H
