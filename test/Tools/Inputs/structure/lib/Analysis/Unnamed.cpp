#include "First.h"
// A comment may say constexpr int guessed = 1;
static constexpr int64_t cacheBytes = int64_t(1) << 20;
static constexpr unsigned wanted = 12, other = wanted;
static bool isLoose(LevelType level) { return isLooseCompressedLT(level); }
static bool isProduct(LinalgOp op) {
  return succeeded(inferContractionDims(op));
}
static StringRef name = "singleton";
static int64_t code =
    SPARSE_AUTOGRAD_LEVEL_DENSE | SPARSE_AUTOGRAD_LEVEL_NONUNIQUE;
static LevelType built = *buildLevelType(LevelFormat::Compressed, true, true);
static bool isDense(LevelType level) { return level.isa<LevelFormat::Dense>(); }

static constexpr llvm::StringLiteral seenName = "sparse_autograd.seen";
