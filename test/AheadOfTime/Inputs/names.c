// Calls two functions whose names in C would be the same.

#include "7 names.h"

#include <stdio.h>

int main(void) {
  int64_t first, second;
  void *one[] = {&first}, *two[] = {&second};
  if (lib7_names_a_b(NULL, one) != SPARSE_AUTOGRAD_SUCCESS ||
      lib7_names_a_b_2(NULL, two) != SPARSE_AUTOGRAD_SUCCESS)
    return 1;
  printf("%d %d\n", (int)first, (int)second);
  return 0;
}
