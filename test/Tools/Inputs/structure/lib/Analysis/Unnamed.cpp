#include "First.h"
// A comment may say constexpr int guessed = 1;
static constexpr int64_t cacheBytes = int64_t(1) << 20;
static constexpr unsigned wanted = 12, other = wanted;
