# A virtual environment of the build tree with the packages that the Python package,
# the tests and examples use, in the versions of utils/requirements.txt. Nothing is installed
# outside the build tree. The target `sparse-autograd-python` makes it, and
# makes it again when the requirements change.

find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)

set(directory "${PROJECT_BINARY_DIR}/python-env")
set(requirements "${PROJECT_SOURCE_DIR}/utils/requirements.txt")
set(SPARSE_AUTOGRAD_PYTHON "${directory}/bin/python3")

add_custom_command(OUTPUT "${directory}/installed"
  COMMAND "${Python3_EXECUTABLE}" -m venv --clear "${directory}"
  COMMAND "${SPARSE_AUTOGRAD_PYTHON}" -m pip install --quiet
          --disable-pip-version-check --no-warn-script-location
          --only-binary :all: --requirement "${requirements}"
  COMMAND "${CMAKE_COMMAND}" -E touch "${directory}/installed"
  DEPENDS "${requirements}"
  COMMENT "Installing the Python packages of utils/requirements.txt into the build tree"
  VERBATIM)
add_custom_target(sparse-autograd-python DEPENDS "${directory}/installed")
