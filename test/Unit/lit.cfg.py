# GoogleTest executables: every file named *Tests below build/test/Unit. The
# environment and the features are those of the suite above, loaded before.

import lit.formats

config.name = "SparseAutograd-Unit"
config.suffixes = []
config.excludes = []
config.test_exec_root = config.unit_exec_root
config.test_source_root = config.unit_exec_root
config.test_format = lit.formats.GoogleTest(".", "Tests")
