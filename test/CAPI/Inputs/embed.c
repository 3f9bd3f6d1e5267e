/* Uses the compiler from C99: parses, runs phases and passes, prints, compiles,
   calls entries on dense and sparse arguments, and does everything that is
   refused. Takes the path of a library that was compiled ahead of time, and a
   folder for a cache. Prints what embed.test compares; a check that fails ends
   it with status 1. */

/* fork */
#define _POSIX_C_SOURCE 200809L

#include "SparseAutograd-c/Executable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char program[] =
    "#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : "
    "compressed), posWidth = 32, crdWidth = 32}>\n"
    "func.func private @loss(%x: tensor<?xf64>, %a: tensor<?x?xf64, #CSR>) -> "
    "tensor<f64> {\n"
    "  %s = sparse_autograd.masked_reduce sum %a dims = [0, 1] : "
    "tensor<?x?xf64, #CSR> -> tensor<f64>\n"
    "  %q = arith.mulf %x, %x : tensor<?xf64>\n"
    "  %n = sparse_autograd.masked_reduce sum %q dims = [0] : tensor<?xf64> -> "
    "tensor<f64>\n"
    "  %r = arith.mulf %s, %n : tensor<f64>\n"
    "  return %r : tensor<f64>\n"
    "}\n"
    "func.func @gradient(%x: tensor<?xf64> {sparse_autograd.name = \"x\"}, %a: "
    "tensor<?x?xf64, #CSR> {sparse_autograd.name = \"a\"}) -> (tensor<f64>, "
    "tensor<?xf64>, tensor<?x?xf64, #CSR>) {\n"
    "  %l, %dx, %da = sparse_autograd.value_and_grad @loss(%x, %a) {wrt = [0, "
    "1]} : (tensor<?xf64>, tensor<?x?xf64, #CSR>) -> (tensor<f64>, "
    "tensor<?xf64>, tensor<?x?xf64, #CSR>)\n"
    "  return %l, %dx, %da : tensor<f64>, tensor<?xf64>, tensor<?x?xf64, "
    "#CSR>\n"
    "}\n"
    "func.func @nothing() { return }\n";

struct SparseMatrix {
  SparseAutogradMemRef1 lists[3];
  int64_t extents[2];
};

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      printf("embed.c:%d: does not hold: %s\n", __LINE__, #condition);         \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/* Prints a list and releases it. */
static void say(int32_t status, SparseAutogradDiagnostics *list) {
  static const char *const names[] = {"note", "remark", "warning", "error"};
  SparseAutogradDiagnostic d;
  int64_t i;
  printf("status %d", (int)status);
  for (i = 0; i < sparseAutogradDiagnosticsCount(list); ++i) {
    CHECK(sparseAutogradDiagnosticsGet(list, i, &d) == SPARSE_AUTOGRAD_SUCCESS);
    printf("; %s at '%s':%d:%d: %s", names[d.severity], d.file, (int)d.line,
           (int)d.column, d.message);
  }
  printf("\n");
  sparseAutogradDiagnosticsDestroy(list);
}

static SparseAutogradModule *parse(SparseAutogradContext *context,
                                   const char *text) {
  SparseAutogradModule *module;
  SparseAutogradDiagnostics *list;
  int32_t status = sparseAutogradModuleParse(context, text, strlen(text),
                                             "loss.mlir", &module, &list);
  if (status != SPARSE_AUTOGRAD_SUCCESS) {
    CHECK(module == NULL);
    say(status, list);
  }
  return module;
}

static int contains(const SparseAutogradModule *module, uint32_t flags,
                    const char *part) {
  char *text;
  int found;
  CHECK(sparseAutogradModulePrint(module, flags, &text) ==
        SPARSE_AUTOGRAD_SUCCESS);
  found = strstr(text, part) != NULL;
  sparseAutogradTextDestroy(text);
  return found;
}

/* A handler that stops after the phase that `userData` names. */
static int32_t watch(const char *phase, SparseAutogradModule *module,
                     void *userData) {
  SparseAutogradModule *copy;
  SparseAutogradExecutable *executable;
  printf("after %s:%s%s%s\n", phase,
         contains(module, 0, "sparse_autograd.value_and_grad")
             ? " value_and_grad"
             : "",
         contains(module, 0, "#sparse_tensor") ? " sparse tensors" : "",
         contains(module, 0, "llvm.func") ? " llvm" : "");
  /* It is borrowed. */
  sparseAutogradModuleDestroy(module);
  CHECK(sparseAutogradModuleClone(module, &copy) == SPARSE_AUTOGRAD_SUCCESS);
  CHECK(sparseAutogradModuleRun(module, NULL, NULL, NULL, NULL) ==
        SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  CHECK(sparseAutogradModuleRunPasses(copy, "canonicalize", NULL) ==
        SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  CHECK(sparseAutogradModuleCompile(module, NULL, &executable, NULL) ==
        SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  sparseAutogradModuleDestroy(copy);
  return userData && strcmp(phase, (const char *)userData) == 0
             ? SPARSE_AUTOGRAD_CANCELLED
             : SPARSE_AUTOGRAD_SUCCESS;
}

/* Phases, passes and what they refuse. */
static void runPasses(SparseAutogradContext *context) {
  SparseAutogradDiagnostics *list;
  SparseAutogradModule *module = parse(context, program), *copy;
  int32_t status;
  CHECK(contains(module, SPARSE_AUTOGRAD_PRINT_LOCATIONS, "\"loss.mlir\":3:"));
  CHECK(!contains(module, 0, "loss.mlir"));
  CHECK(contains(module, SPARSE_AUTOGRAD_PRINT_GENERIC, "\"func.func\"()"));

  CHECK(sparseAutogradModuleClone(module, &copy) == SPARSE_AUTOGRAD_SUCCESS);
  status = sparseAutogradModuleRun(copy, "compile-to=lower-sparse threads=1",
                                   watch, NULL, &list);
  say(status, list);
  printf("once more: ");
  status = sparseAutogradModuleRun(copy, NULL, NULL, NULL, &list);
  say(status, list);
  sparseAutogradModuleDestroy(copy);

  CHECK(sparseAutogradModuleClone(module, &copy) == SPARSE_AUTOGRAD_SUCCESS);
  status =
      sparseAutogradModuleRun(copy, "", watch, (void *)"select-formats", &list);
  say(status, list);
  sparseAutogradModuleDestroy(copy);

  status = sparseAutogradModuleRun(module, "treads=1", NULL, NULL, &list);
  say(status, list);
  status = sparseAutogradModuleRun(module, "threads=2", NULL, NULL, &list);
  say(status, list);
  status = sparseAutogradModuleRunPasses(module, "canonicalise", &list);
  say(status, list);
  status = sparseAutogradModuleRunPasses(
      module, "sparse-autograd-differentiate,func.func(cse)", &list);
  say(status, list);
  CHECK(!contains(module, 0, "sparse_autograd.value_and_grad"));
  status = sparseAutogradModuleRunPasses(
      module, "builtin.module(sparse-autograd-emit-entries)", &list);
  say(status, list);
  sparseAutogradModuleDestroy(module);

  CHECK(parse(context, "func.func @f( {") == NULL);
  CHECK(parse(context, "func.func @f() {\n  return %x : f32\n}") == NULL);
  module = parse(context,
                 "func.func private @f(%x: f64, %n: i64) -> f64 {\n"
                 "  return %x : f64\n"
                 "}\n"
                 "func.func @g(%x: f64, %n: i64) -> (f64, i64) {\n"
                 "  %v, %d = sparse_autograd.value_and_grad @f(%x, %n) {wrt = "
                 "[1]} : (f64, i64) -> (f64, i64)\n"
                 "  return %v, %d : f64, i64\n"
                 "}\n");
  CHECK(module == NULL);
}

static SparseAutogradMemRef1 makeList(void *elements, int64_t count) {
  SparseAutogradMemRef1 list;
  list.allocated = NULL;
  list.aligned = elements;
  list.offset = 0;
  list.sizes[0] = count;
  list.strides[0] = 1;
  return list;
}

/* Calls the gradient; `lastColumn` is 3 where the matrix is not valid. */
static void callGradient(const SparseAutogradExecutable *executable,
                         const char *name, uint32_t lastColumn,
                         int64_t resultCount) {
  double x[] = {1, 2, 3}, values[] = {1, 2, 3};
  uint32_t positions[] = {0, 1, 3}, columns[] = {1, 0, 2};
  SparseAutogradMemRef1 vector = makeList(x, 3), dx;
  SparseAutogradMemRef0 loss;
  SparseAutogradDiagnostics *list;
  struct SparseMatrix a, da;
  void *arguments[2], *results[3];
  int32_t status;
  int i;
  columns[2] = lastColumn;
  a.lists[0] = makeList(positions, 3);
  a.lists[1] = makeList(columns, 3);
  a.lists[2] = makeList(values, 3);
  a.extents[0] = 2;
  a.extents[1] = 3;
  arguments[0] = &vector;
  arguments[1] = &a;
  results[0] = &loss;
  results[1] = &dx;
  results[2] = &da;
  status = sparseAutogradExecutableCall(executable, name, arguments, 2, results,
                                        resultCount, &list);
  say(status, list);
  if (status != SPARSE_AUTOGRAD_SUCCESS)
    return;
  printf("loss %g, dx", ((double *)loss.aligned)[loss.offset]);
  for (i = 0; i < dx.sizes[0]; ++i)
    printf(" %g", ((double *)dx.aligned)[dx.offset + i]);
  printf(", da");
  for (i = 0; i < da.lists[2].sizes[0]; ++i)
    printf(" %g", ((double *)da.lists[2].aligned)[da.lists[2].offset + i]);
  printf("\n");
  sparseAutogradFree(loss.allocated);
  sparseAutogradFree(dx.allocated);
  for (i = 0; i < 3; ++i)
    sparseAutogradFree(da.lists[i].allocated);
}

/* A gradient that is written to memory of this function's, and one that shares
   the pattern of its argument. */
static void callFormed(const SparseAutogradExecutable *executable) {
  double x[] = {1, 2, 3}, values[] = {1, 2, 3}, dx[] = {0, 0, 0}, loss = 0;
  int32_t positions[] = {0, 2, 3}, coordinates[] = {0, 2, 1};
  struct SparseMatrix a = {{{NULL, positions, 0, {3}, {1}},
                            {NULL, coordinates, 0, {3}, {1}},
                            {NULL, values, 0, {3}, {1}}},
                           {2, 3}};
  struct SparseMatrix da;
  SparseAutogradMemRef1 vector = {NULL, x, 0, {3}, {1}};
  SparseAutogradMemRef1 destination = {NULL, dx, 0, {3}, {1}};
  SparseAutogradMemRef0 number = {NULL, &loss, 0};
  void *arguments[] = {&vector, &a}, *results[] = {&number, &destination, &da};
  const int32_t forms[] = {SPARSE_AUTOGRAD_RESULT_DESTINATION,
                           SPARSE_AUTOGRAD_RESULT_DESTINATION,
                           SPARSE_AUTOGRAD_RESULT_SHARED};
  SparseAutogradCall call = {2, 3, arguments, results, NULL, forms};
  SparseAutogradDiagnostics *list;
  int32_t status =
      sparseAutogradExecutableCallAs(executable, "gradient", &call, &list);
  say(status, list);
  printf("loss %g, dx %g %g %g, da %g\n", loss, dx[0], dx[1], dx[2],
         ((double *)da.lists[2].aligned)[0]);
  CHECK(da.lists[0].aligned == positions && !da.lists[0].allocated);
  CHECK(da.lists[1].aligned == coordinates && !da.lists[1].allocated);
  CHECK(da.lists[2].allocated);
  sparseAutogradFree(da.lists[2].allocated);
  destination.aligned = x;
  status = sparseAutogradExecutableCallAs(executable, "gradient", &call, &list);
  say(status, list);
  call.resultCount = 2;
  status = sparseAutogradExecutableCallAs(executable, "gradient", &call, &list);
  say(status, list);
}

static void compile(SparseAutogradContext *context) {
  SparseAutogradCompileOptions options = SPARSE_AUTOGRAD_COMPILE_OPTIONS_INIT;
  SparseAutogradDiagnostics *list;
  SparseAutogradExecutable *executable, *lowered;
  SparseAutogradModule *module = parse(context, program), *empty;
  SparseAutogradEntry entry;
  uint64_t before = sparseAutogradCompilationCount();
  int64_t i;
  int32_t status;

  options.handler = watch;
  status = sparseAutogradModuleCompile(module, &options, &executable, &list);
  say(status, list);
  CHECK(sparseAutogradCompilationCount() == before + 1);
  /* A copy was compiled. */
  CHECK(contains(module, 0, "value_and_grad"));
  options.userData = (void *)"differentiate";
  status = sparseAutogradModuleCompile(module, &options, &lowered, &list);
  say(status, list);
  CHECK(lowered == NULL);
  options.handler = NULL;
  options.pipeline = "compile-to=differentiate";
  status = sparseAutogradModuleCompile(module, &options, &lowered, &list);
  say(status, list);
  options.pipeline = NULL;
  options.optimizationLevel = 4;
  status = sparseAutogradModuleCompile(module, &options, &lowered, &list);
  say(status, list);
  options.optimizationLevel = 1;
  options.device = "nothing";
  status = sparseAutogradModuleCompile(module, &options, &lowered, &list);
  say(status, list);
  empty = parse(context, "func.func private @f() { return }");
  status = sparseAutogradModuleCompile(empty, NULL, &lowered, &list);
  say(status, list);
  sparseAutogradModuleDestroy(empty);

  /* What is lowered already goes to machine code as it is. */
  CHECK(sparseAutogradModuleRun(module, NULL, NULL, NULL, NULL) ==
        SPARSE_AUTOGRAD_SUCCESS);
  status = sparseAutogradModuleCompile(module, NULL, &lowered, &list);
  say(status, list);
  sparseAutogradModuleDestroy(module);
  sparseAutogradContextDestroy(context);

  CHECK(strstr(sparseAutogradExecutableManifest(executable),
               "\"name\":\"gradient\""));
  for (i = 0; i < sparseAutogradExecutableEntryCount(executable); ++i)
    printf("entry %s\n", sparseAutogradExecutableEntryName(executable, i));
  CHECK(sparseAutogradExecutableEntryName(executable, i) == NULL);
  CHECK(sparseAutogradExecutableEntryName(executable, -1) == NULL);
  CHECK(sparseAutogradExecutableLookup(executable, "nothing", &entry, NULL) ==
        SPARSE_AUTOGRAD_SUCCESS);
  CHECK(entry != NULL);
  status = sparseAutogradExecutableLookup(executable, "other", &entry, &list);
  say(status, list);
  CHECK(entry == NULL);
  callGradient(executable, "gradient", 2, 3);
  callGradient(lowered, "gradient", 2, 3);
  callGradient(executable, "gradient", 3, 3);
  callGradient(executable, "gradient", 2, 2);
  callGradient(executable, "other", 2, 3);
  callFormed(executable);
  CHECK(sparseAutogradExecutableCall(executable, "nothing", NULL, 0, NULL, 0,
                                     &list) == SPARSE_AUTOGRAD_SUCCESS);
  CHECK(list == NULL);
  sparseAutogradExecutableDestroy(executable);
  sparseAutogradExecutableDestroy(lowered);
}

/* Code that another executable has stored. The folder is the second argument.
 */
static void useCache(const char *folder) {
  SparseAutogradCompileOptions options = SPARSE_AUTOGRAD_COMPILE_OPTIONS_INIT;
  SparseAutogradContext *context;
  SparseAutogradDiagnostics *list;
  SparseAutogradExecutable *executable;
  SparseAutogradModule *module;
  uint64_t compilations = sparseAutogradCompilationCount();
  uint64_t hits = sparseAutogradCacheHitCount();
  int i;
  CHECK(sparseAutogradContextCreate(&context) == SPARSE_AUTOGRAD_SUCCESS);
  module = parse(context, program);
  options.cache = folder;
  options.handler = watch;
  for (i = 0; i < 2; ++i) {
    int32_t status =
        sparseAutogradModuleCompile(module, &options, &executable, &list);
    say(status, list);
    CHECK(sparseAutogradExecutableIsCached(executable) == i);
    callGradient(executable, "gradient", 2, 3);
    sparseAutogradExecutableDestroy(executable);
  }
  CHECK(sparseAutogradCompilationCount() == compilations + 1);
  CHECK(sparseAutogradCacheHitCount() == hits + 1);
  /* Neither by default nor where it is off. */
  options.handler = NULL;
  options.cache = "off";
  for (i = 0; i < 2; ++i) {
    CHECK(sparseAutogradModuleCompile(module, i ? NULL : &options, &executable,
                                      NULL) == SPARSE_AUTOGRAD_SUCCESS);
    CHECK(sparseAutogradExecutableIsCached(executable) == 0);
    sparseAutogradExecutableDestroy(executable);
  }
  /* What cannot be stored is code all the same. */
  options.cache = "/proc/nowhere";
  say(sparseAutogradModuleCompile(module, &options, &executable, &list), list);
  CHECK(executable != NULL);
  sparseAutogradExecutableDestroy(executable);
  sparseAutogradModuleDestroy(module);
  sparseAutogradContextDestroy(context);
}

static void load(const char *path) {
  SparseAutogradDiagnostics *list;
  SparseAutogradExecutable *executable;
  int32_t status = sparseAutogradExecutableLoad(path, &executable, &list);
  say(status, list);
  printf("loaded: ");
  callGradient(executable, "gradient", 2, 3);
  callGradient(executable, "other", 2, 3);
  sparseAutogradExecutableDestroy(executable);
  status = sparseAutogradExecutableLoad("missing.so", &executable, &list);
  say(status, list);
  CHECK(executable == NULL);
  status = sparseAutogradExecutableLoad("libc.so.6", &executable, NULL);
  CHECK(status == SPARSE_AUTOGRAD_NOT_FOUND);
  status = sparseAutogradExecutableLoad("/lib/x86_64-linux-gnu/libm.so.6",
                                        &executable, &list);
  say(status, list);
}

/* Every pointer that may not be NULL. */
static void refuseNull(void) {
  SparseAutogradContext *context;
  SparseAutogradDiagnostic diagnostic;
  SparseAutogradDiagnostics *list;
  SparseAutogradEntry entry;
  SparseAutogradExecutable *executable;
  SparseAutogradModule *module, *copy;
  const SparseAutogradCall call = {0, 0, NULL, NULL, NULL, NULL};
  char *text;
  const int32_t invalid = SPARSE_AUTOGRAD_INVALID_ARGUMENT;

  CHECK(sparseAutogradContextCreate(NULL) == invalid);
  CHECK(sparseAutogradContextCreate(&context) == SPARSE_AUTOGRAD_SUCCESS);
  CHECK(sparseAutogradModuleParse(NULL, "", 0, NULL, &module, NULL) == invalid);
  CHECK(sparseAutogradModuleParse(context, NULL, 0, NULL, &module, NULL) ==
        invalid);
  CHECK(sparseAutogradModuleParse(context, "", 0, NULL, NULL, &list) ==
        invalid);
  say(invalid, list);
  CHECK(sparseAutogradModuleParse(context, "", 0, NULL, &module, NULL) ==
        SPARSE_AUTOGRAD_SUCCESS);
  CHECK(sparseAutogradModuleClone(NULL, &copy) == invalid);
  CHECK(sparseAutogradModuleClone(module, NULL) == invalid);
  CHECK(sparseAutogradModulePrint(NULL, 0, &text) == invalid && !text);
  CHECK(sparseAutogradModulePrint(module, 0, NULL) == invalid);
  CHECK(sparseAutogradModulePrint(module, 8, &text) == invalid && !text);
  CHECK(sparseAutogradModuleRun(NULL, "", NULL, NULL, NULL) == invalid);
  CHECK(sparseAutogradModuleRunPasses(NULL, "cse", NULL) == invalid);
  CHECK(sparseAutogradModuleRunPasses(module, NULL, NULL) == invalid);
  CHECK(sparseAutogradModuleCompile(NULL, NULL, &executable, NULL) == invalid);
  CHECK(sparseAutogradModuleCompile(module, NULL, NULL, NULL) == invalid);
  CHECK(sparseAutogradExecutableLoad(NULL, &executable, NULL) == invalid);
  CHECK(sparseAutogradExecutableLoad("model.so", NULL, NULL) == invalid);
  CHECK(sparseAutogradExecutableManifest(NULL) == NULL);
  CHECK(sparseAutogradExecutableEntryCount(NULL) == 0);
  CHECK(sparseAutogradExecutableIsCached(NULL) == 0);
  CHECK(sparseAutogradExecutableEntryName(NULL, 0) == NULL);
  CHECK(sparseAutogradModuleParse(context, "func.func @f() { return }", 25,
                                  NULL, &copy,
                                  NULL) == SPARSE_AUTOGRAD_SUCCESS);
  CHECK(sparseAutogradModuleCompile(copy, NULL, &executable, NULL) ==
        SPARSE_AUTOGRAD_SUCCESS);
  CHECK(sparseAutogradExecutableLookup(NULL, "f", &entry, NULL) == invalid);
  CHECK(sparseAutogradExecutableLookup(executable, NULL, &entry, NULL) ==
        invalid);
  CHECK(sparseAutogradExecutableLookup(executable, "f", NULL, NULL) == invalid);
  CHECK(sparseAutogradExecutableCall(NULL, "f", NULL, 0, NULL, 0, NULL) ==
        invalid);
  CHECK(sparseAutogradExecutableCall(executable, NULL, NULL, 0, NULL, 0,
                                     NULL) == invalid);
  CHECK(sparseAutogradExecutableCall(executable, "f", NULL, 1, NULL, 0, NULL) ==
        invalid);
  CHECK(sparseAutogradExecutableCall(executable, "f", NULL, 0, NULL, 1, NULL) ==
        invalid);
  CHECK(sparseAutogradExecutableCallAs(NULL, "f", &call, NULL) == invalid);
  CHECK(sparseAutogradExecutableCallAs(executable, NULL, &call, NULL) ==
        invalid);
  CHECK(sparseAutogradExecutableCallAs(executable, "f", NULL, NULL) == invalid);
  CHECK(sparseAutogradExecutableCallAs(executable, "f", &call, NULL) ==
        SPARSE_AUTOGRAD_SUCCESS);
  CHECK(sparseAutogradDiagnosticsCount(NULL) == 0);
  CHECK(sparseAutogradDiagnosticsGet(NULL, 0, &diagnostic) == invalid);
  sparseAutogradModuleRunPasses(module, "nothing", &list);
  CHECK(sparseAutogradDiagnosticsCount(list) == 1);
  CHECK(sparseAutogradDiagnosticsGet(list, 0, NULL) == invalid);
  CHECK(sparseAutogradDiagnosticsGet(list, 1, &diagnostic) ==
        SPARSE_AUTOGRAD_OUT_OF_RANGE);
  CHECK(sparseAutogradDiagnosticsGet(list, -1, &diagnostic) ==
        SPARSE_AUTOGRAD_OUT_OF_RANGE);
  sparseAutogradDiagnosticsDestroy(list);
  sparseAutogradDiagnosticsDestroy(NULL);
  sparseAutogradTextDestroy(NULL);
  sparseAutogradExecutableDestroy(executable);
  sparseAutogradExecutableDestroy(NULL);
  /* In the other order. */
  sparseAutogradContextDestroy(context);
  sparseAutogradContextDestroy(NULL);
  sparseAutogradModuleDestroy(module);
  sparseAutogradModuleDestroy(copy);
  sparseAutogradModuleDestroy(NULL);
}

/* What a process may do with what it has inherited. */
static void forkProcess(void) {
  SparseAutogradContext *context;
  SparseAutogradModule *module;
  SparseAutogradExecutable *executable;
  pid_t child;
  int status;
  CHECK(sparseAutogradContextCreate(&context) == SPARSE_AUTOGRAD_SUCCESS);
  module = parse(context, program);
  CHECK(sparseAutogradModuleCompile(module, NULL, &executable, NULL) ==
        SPARSE_AUTOGRAD_SUCCESS);
  fflush(stdout);
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    SparseAutogradExecutable *other;
    SparseAutogradDiagnostics *list;
    say(sparseAutogradModuleCompile(module, NULL, &other, &list), list);
    CHECK(contains(module, 0, "func.func"));
    callGradient(executable, "gradient", 2, 3);
  }
  sparseAutogradExecutableDestroy(executable);
  sparseAutogradModuleDestroy(module);
  sparseAutogradContextDestroy(context);
  if (child == 0) {
    CHECK(sparseAutogradContextCreate(&context) == SPARSE_AUTOGRAD_SUCCESS);
    module = parse(context, program);
    CHECK(sparseAutogradModuleCompile(module, NULL, &executable, NULL) ==
          SPARSE_AUTOGRAD_SUCCESS);
    callGradient(executable, "gradient", 2, 3);
    fflush(stdout);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv) {
  SparseAutogradContext *context;
  SparseAutogradCounters counters;
  CHECK(argc == 3);
  CHECK(sparseAutogradCVersion() == SPARSE_AUTOGRAD_C_VERSION);
  printf("version %s\n", sparseAutogradVersionText());
  CHECK(sparseAutogradContextCreate(&context) == SPARSE_AUTOGRAD_SUCCESS);
  runPasses(context);
  compile(context);
  useCache(argv[2]);
  load(argv[1]);
  refuseNull();
  forkProcess();
  sparseAutogradGetCounters(&counters);
  printf("%d blocks are left\n", (int)counters.liveBlocks);
  return 0;
}
