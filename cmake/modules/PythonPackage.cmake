# The Python package in the build tree, in python/sparse_autograd below it: the
# folder `python` of the build tree is one for PYTHONPATH. It is the build that pip
# does (python/CMakeLists.txt), by the build's own Python, whose nanobind is there
# only when the build has made its environment. The target
# `sparse-autograd-python-package` makes it; the tests ask for it.
#
# Under sanitizers there is none: Python is not instrumented.

set(SPARSE_AUTOGRAD_PYTHON_PACKAGE "")
if(NOT SPARSE_AUTOGRAD_SANITIZERS)
  set(SPARSE_AUTOGRAD_PYTHON_PACKAGE sparse-autograd-python-package)
  set(source "${PROJECT_SOURCE_DIR}/python")
  set(directory "${PROJECT_BINARY_DIR}/python")
  file(GLOB_RECURSE package_files CONFIGURE_DEPENDS
    "${source}/src/*" "${source}/sparse_autograd/*.py")
  add_custom_command(OUTPUT "${directory}/installed"
    COMMAND "${CMAKE_COMMAND}" -G "${CMAKE_GENERATOR}" -S "${source}"
            -B "${directory}/build" --log-level=WARNING
            "-DCMAKE_PREFIX_PATH=${PROJECT_BINARY_DIR}"
            "-DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}"
            "-DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}"
            "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
            "-DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}"
            "-DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}"
            "-DPython_EXECUTABLE=${SPARSE_AUTOGRAD_PYTHON}"
    COMMAND "${CMAKE_COMMAND}" --build "${directory}/build"
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${directory}/sparse_autograd"
    COMMAND "${CMAKE_COMMAND}" --install "${directory}/build"
            --prefix "${directory}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${directory}/installed"
    DEPENDS sparse-autograd-python "${PROJECT_BINARY_DIR}/python-env/installed"
            SparseAutogradC "${source}/CMakeLists.txt" ${package_files}
    COMMENT "Building the Python package in the build tree"
    VERBATIM)
  add_custom_target(sparse-autograd-python-package
    DEPENDS "${directory}/installed")
endif()
