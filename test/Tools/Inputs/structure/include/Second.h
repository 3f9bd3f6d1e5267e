#include "First.h"
constexpr int wanted = 12;
