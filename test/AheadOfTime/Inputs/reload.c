// Loads the libraries given, which define model_gradient, calls them, unloads
// them in this order and does it again. Then their kernels are gone from the
// device.

#include "SparseAutograd/Runtime/Device.h"

#include <dlfcn.h>
#include <stdio.h>

#define ROUNDS 3

static int call(void *library) {
  double x[] = {1, 2, 3, 4}, target[] = {1, 0, 0, 1};
  SparseAutogradMemRef2 xMatrix = {NULL, x, 0, {2, 2}, {2, 1}};
  SparseAutogradMemRef2 targetMatrix = {NULL, target, 0, {2, 2}, {2, 1}};
  SparseAutogradMemRef0 loss;
  SparseAutogradMemRef2 gradient;
  void *arguments[] = {&xMatrix, &targetMatrix};
  void *results[] = {&loss, &gradient};
  SparseAutogradEntry entry;
  *(void **)&entry = dlsym(library, "model_gradient");
  if (!entry || entry(arguments, results) != SPARSE_AUTOGRAD_SUCCESS) {
    printf("error: %s\n", entry ? sparseAutogradLastError() : dlerror());
    return 1;
  }
  printf("loss %g, ", ((const double *)loss.aligned)[loss.offset]);
  sparseAutogradFree(loss.allocated);
  sparseAutogradFree(gradient.allocated);
  return 0;
}

int main(int count, char **paths) {
  void *libraries[2];
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 1; i < count; ++i) {
      // Global: symbols of one could be taken for those of the other.
      libraries[i - 1] = dlopen(paths[i], RTLD_NOW | RTLD_GLOBAL);
      if (!libraries[i - 1]) {
        printf("error: %s\n", dlerror());
        return 1;
      }
    }
    for (int i = 1; i < count; ++i) {
      // The others still run when those before are gone.
      for (int j = i; j < count; ++j)
        if (call(libraries[j - 1]))
          return 1;
      dlclose(libraries[i - 1]);
      if (dlopen(paths[i], RTLD_NOW | RTLD_NOLOAD)) {
        printf("error: '%s' is still there\n", paths[i]);
        return 1;
      }
    }
    SparseAutogradDeviceCounters counters;
    sparseAutogradGetDeviceCounters(&counters);
    printf("%d modules loaded, %d blocks left\n", (int)counters.loads,
           (int)counters.liveBlocks);
  }
  // Touches what is loaded: not what is gone.
  printf("closed: %d\n", (int)sparseAutogradCloseDevices());
  return 0;
}
