//===- Core.cpp - the C interface of the compiler in Python ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The module `_core`: SparseAutograd-c, function by function. What can fail
// returns (status, diagnostics, value), of which the modules in Python make
// exceptions. Whatever compiles or runs releases the GIL.
//
//===----------------------------------------------------------------------===//

#include "Call.h"
#include "SparseAutograd-c/Executable.h"
#include "SparseAutograd/Runtime/Device.h"
#include "XlaCall.h"
#include <exception>
#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <optional>

namespace nb = nanobind;
using namespace nb::literals;

namespace {
template <typename T, void (*destroy)(T *)>
struct Handle {
  explicit Handle(T *handle) : handle(handle) {}
  ~Handle() { destroy(handle); }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  T *handle;
};
using Context = Handle<SparseAutogradContext, sparseAutogradContextDestroy>;
using Module = Handle<SparseAutogradModule, sparseAutogradModuleDestroy>;
using Executable =
    Handle<SparseAutogradExecutable, sparseAutogradExecutableDestroy>;

/// A handler in Python of the phases, or None, called with a phase's name and
/// the text of the module. What it raises stops the pipeline, and is raised
/// again; so is what a signal raises meanwhile (KeyboardInterrupt).
struct Handler {
  explicit Handler(nb::object given)
      : function(std::move(given)), isGiven(!function.is_none()) {}

  nb::object function;
  bool isGiven;
  std::exception_ptr raised;

  static int32_t call(const char *phase, SparseAutogradModule *module,
                      void *userData) {
    auto *self = static_cast<Handler *>(userData);
    char *text = nullptr;
    if (self->isGiven)
      if (int32_t status = sparseAutogradModulePrint(module, 0, &text))
        return status;
    std::unique_ptr<char, decltype(&sparseAutogradTextDestroy)> owner(
        text, sparseAutogradTextDestroy);
    nb::gil_scoped_acquire acquire;
    try {
      if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
      if (self->isGiven)
        self->function(phase, text);
      return SPARSE_AUTOGRAD_SUCCESS;
    } catch (...) {
      self->raised = std::current_exception();
      return SPARSE_AUTOGRAD_CANCELLED;
    }
  }
};
} // namespace

static const char *getText(const std::optional<std::string> &text) {
  return text ? text->c_str() : nullptr;
}

/// A failure, or the handle as an object.
template <typename T, typename H>
static nb::tuple finish(int32_t status, SparseAutogradDiagnostics *list,
                        H *handle) {
  nb::object value = nb::none();
  if (handle)
    value = nb::cast(std::make_shared<T>(handle));
  return nb::make_tuple(status, takeDiagnostics(list), value);
}

static std::shared_ptr<Context> makeContext() {
  SparseAutogradContext *context;
  int32_t status;
  {
    nb::gil_scoped_release release;
    status = sparseAutogradContextCreate(&context);
  }
  if (status != SPARSE_AUTOGRAD_SUCCESS)
    throw std::bad_alloc();
  return std::make_shared<Context>(context);
}

static nb::tuple parse(Context &context, nb::bytes text,
                       const std::string &name) {
  SparseAutogradModule *module;
  SparseAutogradDiagnostics *list;
  int32_t status;
  {
    const char *bytes = text.c_str();
    size_t size = text.size();
    nb::gil_scoped_release release;
    status = sparseAutogradModuleParse(context.handle, bytes, size,
                                       name.c_str(), &module, &list);
  }
  return finish<Module>(status, list, module);
}

static std::string print(const Module &module, uint32_t flags) {
  char *text = nullptr;
  {
    nb::gil_scoped_release release;
    sparseAutogradModulePrint(module.handle, flags, &text);
  }
  if (!text)
    throw std::bad_alloc();
  std::unique_ptr<char, decltype(&sparseAutogradTextDestroy)> owner(
      text, sparseAutogradTextDestroy);
  return text;
}

static std::shared_ptr<Module> cloneModule(const Module &module) {
  SparseAutogradModule *copy;
  {
    nb::gil_scoped_release release;
    sparseAutogradModuleClone(module.handle, &copy);
  }
  if (!copy)
    throw std::bad_alloc();
  return std::make_shared<Module>(copy);
}

static nb::tuple run(Module &module, const std::string &options,
                     nb::object function) {
  Handler handler(std::move(function));
  SparseAutogradDiagnostics *list;
  int32_t status;
  {
    nb::gil_scoped_release release;
    status = sparseAutogradModuleRun(module.handle, options.c_str(),
                                     Handler::call, &handler, &list);
  }
  nb::list diagnostics = takeDiagnostics(list);
  if (handler.raised)
    std::rethrow_exception(handler.raised);
  return nb::make_tuple(status, diagnostics, nb::none());
}

static nb::tuple runPasses(Module &module, const std::string &passes) {
  SparseAutogradDiagnostics *list;
  int32_t status;
  {
    nb::gil_scoped_release release;
    status =
        sparseAutogradModuleRunPasses(module.handle, passes.c_str(), &list);
  }
  return nb::make_tuple(status, takeDiagnostics(list), nb::none());
}

static nb::tuple compile(const Module &module, const std::string &options,
                         std::optional<std::string> device,
                         int32_t optimizationLevel, nb::object function,
                         const std::string &cache) {
  Handler handler(std::move(function));
  SparseAutogradCompileOptions all = {options.c_str(),   getText(device),
                                      optimizationLevel, Handler::call,
                                      &handler,          cache.c_str()};
  SparseAutogradExecutable *executable;
  SparseAutogradDiagnostics *list;
  int32_t status;
  {
    nb::gil_scoped_release release;
    status =
        sparseAutogradModuleCompile(module.handle, &all, &executable, &list);
  }
  if (handler.raised) {
    sparseAutogradDiagnosticsDestroy(list);
    std::rethrow_exception(handler.raised);
  }
  return finish<Executable>(status, list, executable);
}

static nb::tuple load(const std::string &path) {
  SparseAutogradExecutable *executable;
  SparseAutogradDiagnostics *list;
  int32_t status;
  {
    nb::gil_scoped_release release;
    status = sparseAutogradExecutableLoad(path.c_str(), &executable, &list);
  }
  return finish<Executable>(status, list, executable);
}

/// The kinds of values by their names.
static std::vector<XlaValue> getXlaValues(nb::list names) {
  std::vector<XlaValue> values;
  for (nb::handle given : names) {
    auto name = nb::cast<std::string>(given);
    values.push_back(name == "number"  ? XlaValue::Number
                     : name == "dense" ? XlaValue::Dense
                     : name == "csr"   ? XlaValue::CSR
                                       : XlaValue::COO);
  }
  return values;
}

static nb::dict counters() {
  SparseAutogradCounters c;
  sparseAutogradGetCounters(&c);
  nb::dict all;
  all["allocations"] = c.allocations;
  all["allocated_bytes"] = c.allocatedBytes;
  all["pool_hits"] = c.poolHits;
  all["live_blocks"] = c.liveBlocks;
  all["live_bytes"] = c.liveBytes;
  all["peak_live_bytes"] = c.peakLiveBytes;
  all["pooled_bytes"] = c.pooledBytes;
  all["entry_calls"] = c.entryCalls;
  SparseAutogradCallCounters calls;
  sparseAutogradGetCallCounters(&calls);
  all["copied_bytes"] = calls.copiedBytes;
  all["checked_bytes"] = calls.checkedBytes;
  all["parallel_regions"] = c.parallelRegions;
  return all;
}

/// Hands a line of progress to `function`, a pointer to an object that lives as
/// long as the process. What it raises stops the entry.
static int32_t handleLog(const SparseAutogradLogRecord *record,
                         void *function) {
  nb::gil_scoped_acquire acquire;
  try {
    if (PyErr_CheckSignals() != 0)
      throw nb::python_error();
    nb::dict values;
    for (int64_t i = 0; i < record->count; ++i) {
      const SparseAutogradLogValue &value = record->values[i];
      if (record->kinds[i] == SPARSE_AUTOGRAD_LOG_INTEGER)
        values[record->names[i]] = value.integer;
      else
        values[record->names[i]] = value.floating;
    }
    nb::borrow<nb::object>(static_cast<PyObject *>(function))(values);
    return SPARSE_AUTOGRAD_SUCCESS;
  } catch (nb::python_error &error) {
    // The caller of the entry sees it: an exception that is pending when the
    // entry has returned (Call.cpp).
    error.restore();
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "the handler of log lines failed");
  }
  return SPARSE_AUTOGRAD_CANCELLED;
}

static void setLogHandler(nb::object function) {
  sparseAutogradSetLogHandler(handleLog, function.release().ptr());
}

NB_MODULE(_core, m) {
  // Functions that are compiled live as long as the modules that hold them, to
  // the end of the process.
  nb::set_leak_warnings(false);
  if (sparseAutogradCVersion() != SPARSE_AUTOGRAD_C_VERSION)
    throw nb::import_error(
        "libSparseAutogradC is of another version than this package: install "
        "the package again");
  m.doc() = "The C interface of the compiler; see sparse_autograd.";
  nb::class_<Context>(m, "Context").def("parse", &parse, "text"_a, "name"_a);
  nb::class_<Module>(m, "Module")
      .def("print", &print, "flags"_a)
      .def("clone", &cloneModule)
      .def("run", &run, "options"_a, "handler"_a.none())
      .def("run_passes", &runPasses, "passes"_a)
      .def("compile", &compile, "options"_a, "device"_a.none(),
           "optimization_level"_a, "handler"_a.none(), "cache"_a);
  nb::class_<Executable>(m, "Executable")
      .def_prop_ro("manifest",
                   [](const Executable &self) {
                     return sparseAutogradExecutableManifest(self.handle);
                   })
      .def_prop_ro("is_cached",
                   [](const Executable &self) {
                     return sparseAutogradExecutableIsCached(self.handle) != 0;
                   })
      .def(
          "call",
          [](const Executable &self, const std::string &name,
             nb::list arguments, nb::list results, nb::object destinations) {
            return callEntry(self.handle, name.c_str(), std::move(arguments),
                             std::move(results), std::move(destinations));
          },
          "name"_a, "arguments"_a, "results"_a, "destinations"_a.none())
      .def(
          "add_xla_entry",
          [](const Executable &self, const std::string &name, int64_t id,
             nb::list arguments, nb::list results) {
            SparseAutogradEntry entry;
            if (sparseAutogradExecutableLookup(self.handle, name.c_str(),
                                               &entry, nullptr))
              throw nb::key_error(name.c_str());
            addXlaEntry(id, entry, getXlaValues(arguments),
                        getXlaValues(results));
          },
          "name"_a, "id"_a, "arguments"_a, "results"_a);
  m.def("make_context", &makeContext);
  m.def("load", &load, "path"_a);
  m.def("xla_handler", &getXlaHandler);
  m.def("compilation_count", &sparseAutogradCompilationCount);
  m.def("cache_hit_count", &sparseAutogradCacheHitCount);
  m.def("counters", &counters);
  m.def("set_log_handler", &setLogHandler, "function"_a);
  m.def("set_blas", [](const std::string &path) {
    return sparseAutogradSetBlas(path.c_str()) == SPARSE_AUTOGRAD_SUCCESS;
  });
  // (state, file): 0 is unused, 1 loaded, 2 missing.
  m.def("blas", [] {
    const char *file;
    int32_t state = sparseAutogradGetBlas(&file);
    return nb::make_tuple(state, file);
  });
  m.def("set_thread_count", &sparseAutogradSetThreadCount, "threads"_a);
  m.def("version", &sparseAutogradVersionText);
}
