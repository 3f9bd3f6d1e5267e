// Calls what model.mlir defines. C11 and C++17.

#include "model.h"

#include <stdio.h>

static int fail(void) {
  printf("error: %s\n", sparseAutogradLastError());
  return 1;
}

static SparseAutogradMemRef2 makeMatrix(double *elements, int64_t rows,
                                        int64_t columns) {
  SparseAutogradMemRef2 matrix = {
      NULL, elements, 0, {rows, columns}, {columns, 1}};
  return matrix;
}

static SparseAutogradMemRef1 makeList(void *elements, int64_t count) {
  SparseAutogradMemRef1 list = {NULL, elements, 0, {count}, {1}};
  return list;
}

static int callGradient(int64_t columns) {
  double x[] = {1, 2, 3, 4}, target[] = {1, 0, 0, 1};
  SparseAutogradMemRef2 xMatrix = makeMatrix(x, 2, columns);
  SparseAutogradMemRef2 targetMatrix = makeMatrix(target, 2, 2);
  SparseAutogradMemRef0 loss;
  SparseAutogradMemRef2 gradient;
  void *arguments[] = {&xMatrix, &targetMatrix};
  void *results[] = {&loss, &gradient};
  if (model_gradient(arguments, results) != SPARSE_AUTOGRAD_SUCCESS)
    return fail();
  const double *g = (const double *)gradient.aligned + gradient.offset;
  printf("loss %g, gradient %g %g %g %g\n",
         ((const double *)loss.aligned)[loss.offset], g[0], g[1], g[2], g[3]);
  sparseAutogradFree(loss.allocated);
  sparseAutogradFree(gradient.allocated);
  return 0;
}

struct SparseMatrix {
  SparseAutogradMemRef1 lists[3];
  int64_t extents[2];
};

static int callDouble(uint32_t lastColumn) {
  uint32_t positions[] = {0, 1, 3}, columns[] = {1, 0, 2};
  float values[] = {1, 2, 3};
  columns[2] = lastColumn;
  struct SparseMatrix a = {
      {makeList(positions, 3), makeList(columns, 3), makeList(values, 3)},
      {2, 3}};
  struct SparseMatrix b;
  void *arguments[] = {&a};
  void *results[] = {&b};
  if (model_double(arguments, results) != SPARSE_AUTOGRAD_SUCCESS)
    return fail();
  printf("%d by %d:", (int)b.extents[0], (int)b.extents[1]);
  for (int64_t i = 0; i < b.lists[2].sizes[0]; ++i)
    printf(" %g in column %d",
           ((const float *)b.lists[2].aligned + b.lists[2].offset)[i],
           (int)((const uint32_t *)b.lists[1].aligned + b.lists[1].offset)[i]);
  printf("\n");
  for (int i = 0; i < 3; ++i)
    sparseAutogradFree(b.lists[i].allocated);
  return 0;
}

/* The values of the result are written here, its lists are those of `a`. */
static int callWithoutCopies(void) {
  uint32_t positions[] = {0, 1, 3}, columns[] = {1, 0, 2};
  float values[] = {1, 2, 3}, doubled[3];
  struct SparseMatrix a = {
      {makeList(positions, 3), makeList(columns, 3), makeList(values, 3)},
      {2, 3}};
  struct SparseMatrix b = {
      {makeList(NULL, 0), makeList(NULL, 0), makeList(doubled, 3)}, {0, 0}};
  SparseAutogradPattern *pattern;
  if (sparseAutogradPatternCreate("a", &model_double_argument0, &a,
                                  SPARSE_AUTOGRAD_BORROW,
                                  &pattern) != SPARSE_AUTOGRAD_SUCCESS)
    return fail();
  void *arguments[] = {&a};
  void *results[] = {&b};
  const SparseAutogradPattern *patterns[] = {pattern};
  int32_t forms[] = {SPARSE_AUTOGRAD_RESULT_DESTINATION};
  SparseAutogradCall call = {1, 1, arguments, results, patterns, forms};
  SparseAutogradCallCounters counters;
  int32_t status;
  sparseAutogradResetCounters();
  status = sparseAutogradCall(model_double, &call);
  sparseAutogradPatternDestroy(pattern);
  if (status != SPARSE_AUTOGRAD_SUCCESS)
    return fail();
  sparseAutogradGetCallCounters(&counters);
  printf("in place: %g %g %g, %s lists, %d bytes validated\n", doubled[0],
         doubled[1], doubled[2],
         b.lists[0].aligned == positions && b.lists[1].aligned == columns
             ? "shared"
             : "other",
         (int)counters.checkedBytes);
  /* Where they are read from is no place for them. */
  b.lists[2] = makeList(values, 3);
  call.patterns = NULL;
  if (sparseAutogradCall(model_double, &call) != SPARSE_AUTOGRAD_SUCCESS)
    return fail();
  return 0;
}

int main(void) {
  // The last of each pair is refused.
  int failures = callGradient(2) + callGradient(1) + callDouble(2) +
                 callDouble(3) + callWithoutCopies();
  SparseAutogradCounters counters;
  sparseAutogradGetCounters(&counters);
  printf("%d calls failed, %d blocks are left\n", failures,
         (int)counters.liveBlocks);
  return 0;
}
