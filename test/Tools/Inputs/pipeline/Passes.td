include "SparseAutograd/PipelinePass.td"

// Half a contract is none.
def CheckInput : PipelinePass<"sparse-autograd-check-input", "::mlir::ModuleOp"> {
  let needs = "any program";
}

class UpstreamPass<string name, string before, string after> {
  string argument = name;
  string needs = before;
  string leaves = after;
}
def : UpstreamPass<"cse", "any op", "one op of equal ones">;
def : UpstreamPass<"loop-invariant-code-motion", "loops", "less in them">;
