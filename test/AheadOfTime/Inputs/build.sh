# What the README says, with an installation in PREFIX.
sparse-compile model.mlir -o model
cc main.c model.so -I $PREFIX/include -L $PREFIX/lib -lSparseAutogradRuntime \
    -Wl,-rpath,'$ORIGIN' -Wl,-rpath,$PREFIX/lib -o main
./main
