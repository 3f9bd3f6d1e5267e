# Build rules of the project: one function for each kind of target.

# The packages are built without assertions, and the layout of some classes
# (Pass::Statistic) depends on NDEBUG, so every configuration defines it.
add_compile_definitions(NDEBUG)

if(SPARSE_AUTOGRAD_SANITIZERS)
  add_compile_options(-fsanitize=${SPARSE_AUTOGRAD_SANITIZERS}
                      -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SPARSE_AUTOGRAD_SANITIZERS})
  # libMLIR is not instrumented, so its objects fail these checks.
  if(SPARSE_AUTOGRAD_SANITIZERS MATCHES "undefined")
    add_compile_options(-fno-sanitize=vptr,function)
  endif()
endif()

# Warnings of our own code; the LLVM headers are system headers.
add_compile_options(-Wall -Wextra -Wno-unused-parameter)

# One precompiled header serves every MLIR-facing library: a file compiles in
# less than half the time.
function(sparse_autograd_use_precompiled_header target)
  if(NOT TARGET SparseAutogradPrecompiledHeader)
    set(source "${CMAKE_BINARY_DIR}/SparseAutogradPrecompiledHeader.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "")
    add_library(SparseAutogradPrecompiledHeader OBJECT "${source}")
    target_precompile_headers(SparseAutogradPrecompiledHeader PRIVATE
      "${PROJECT_SOURCE_DIR}/cmake/PrecompiledHeader.h")
    llvm_update_compile_flags(SparseAutogradPrecompiledHeader)
  endif()
  target_precompile_headers(${target} REUSE_FROM SparseAutogradPrecompiledHeader)
endfunction()

# add_sparse_autograd_library(NAME sources... [DEPENDS ...] [LINK_LIBS ...])
#
# An MLIR-facing static library, one a directory. LINK_LIBS names libraries of
# this project; those of MLIR and LLVM come from the shared libMLIR and libLLVM.
function(add_sparse_autograd_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(SparseAutograd::${name} ALIAS ${name})
  llvm_update_compile_flags(${name})
  sparse_autograd_use_precompiled_header(${name})
  # Generated headers must exist before any source is compiled.
  add_dependencies(${name} sparse-autograd-headers)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} MLIR LLVM)
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_property(GLOBAL APPEND PROPERTY SPARSE_AUTOGRAD_LIBRARIES ${name})
  install(TARGETS ${name} EXPORT SparseAutogradTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# add_sparse_autograd_tool(NAME sources... [LINK_LIBS ...])
function(add_sparse_autograd_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  add_dependencies(${name} sparse-autograd-headers)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
  set_property(GLOBAL APPEND PROPERTY SPARSE_AUTOGRAD_TOOLS ${name})
  install(TARGETS ${name} EXPORT SparseAutogradTargets
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# What every shared library of the project has: it is installed, and other tools
# find it.
function(sparse_autograd_finish_shared_library name)
  if(SPARSE_AUTOGRAD_SANITIZERS)
    # The sanitizer's runtime is in the executable.
    target_link_options(${name} PRIVATE -Wl,-z,undefs)
  endif()
  set_property(GLOBAL APPEND PROPERTY SPARSE_AUTOGRAD_RUNTIME_LIBRARIES ${name})
  install(TARGETS ${name} EXPORT SparseAutogradTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# add_sparse_autograd_runtime_library(NAME sources...)
#
# A shared library that compiled code runs with. It sees nothing of MLIR and
# LLVM and exports only what its headers mark.
function(add_sparse_autograd_runtime_library name)
  add_library(${name} SHARED ${ARGN})
  add_library(SparseAutograd::${name} ALIAS ${name})
  target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti)
  set_target_properties(${name} PROPERTIES
    VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH_USE_LINK_PATH ON)
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  sparse_autograd_finish_shared_library(${name})
endfunction()

# add_sparse_autograd_c_library(NAME sources... [LINK_LIBS ...])
#
# A shared library with a C interface to the compiler, which catches exceptions. It
# exports what NAME.map lists, nothing of the libraries inside.
function(add_sparse_autograd_c_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} SHARED ${ARG_UNPARSED_ARGUMENTS})
  add_library(SparseAutograd::${name} ALIAS ${name})
  set(LLVM_REQUIRES_EH ON)
  set(LLVM_REQUIRES_RTTI ON)
  llvm_update_compile_flags(${name})
  add_dependencies(${name} sparse-autograd-headers)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
  set(exports "${CMAKE_CURRENT_SOURCE_DIR}/${name}.map")
  target_link_options(${name} PRIVATE "-Wl,--version-script,${exports}")
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "${exports}")
  set_target_properties(${name} PROPERTIES
    VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "$ORIGIN"
    INSTALL_RPATH_USE_LINK_PATH ON)
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  sparse_autograd_finish_shared_library(${name})
endfunction()

# add_sparse_autograd_plugin(NAME sources... [LINK_LIBS ...])
#
# A shared library that programs on the same libMLIR load as a plugin. It exports
# its entry points only.
function(add_sparse_autograd_plugin name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} MODULE ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  add_dependencies(${name} sparse-autograd-headers)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
  # Loaded by path: no prefix. Nothing of the libraries inside is visible.
  set_target_properties(${name} PROPERTIES PREFIX "")
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)
  sparse_autograd_finish_shared_library(${name})
endfunction()

# add_sparse_autograd_test_program(NAME sources... [LINK_LIBS ...])
#
# A program that tests run by its name; it is not installed.
function(add_sparse_autograd_test_program name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} sparse-autograd-headers)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  set_property(GLOBAL APPEND PROPERTY SPARSE_AUTOGRAD_TOOLS ${name})
endfunction()

# add_sparse_autograd_unittest(NAME sources... [LINK_LIBS ...])
#
# A GoogleTest program; NAME ends in Tests, which is how it is found.
function(add_sparse_autograd_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  if(NOT name MATCHES "Tests$")
    message(FATAL_ERROR "the name of a unit test ends in Tests, not '${name}'")
  endif()
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} sparse-autograd-headers)
  target_link_libraries(${name} PRIVATE
    ${ARG_LINK_LIBS} GTest::gmock GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  add_dependencies(SparseAutogradUnitTests ${name})
endfunction()
