# What docs/python.md says, with an installation in PREFIX.
CMAKE_PREFIX_PATH=$PREFIX pip install ./python
