"""An editor's session with sparse-lsp-server, over its pipes: session.py"""

import json
import subprocess
import sys

URI = "file:///model.mlir"
PROGRAM = """\
func.func private @loss(%x: tensor<4x8xf32>, %m: tensor<4x8xi1>) -> tensor<f32> {
  %mean = sparse_autograd.masked_reduce mean %x, %m dims = [0, 1]
      : tensor<4x8xf32>, tensor<4x8xi1> -> tensor<f32>
  return %mean : tensor<f32>
}
func.func @gradient(%x: tensor<4x8xf32>, %m: tensor<4x8xi1>) -> tensor<4x8xf32> {
  %loss, %dx = sparse_autograd.value_and_grad @loss(%x, %m) {wrt = [0]}
      : (tensor<4x8xf32>, tensor<4x8xi1>) -> (tensor<f32>, tensor<4x8xf32>)
  return %dx : tensor<4x8xf32>
}
"""
# The mask has another shape than x: line 1 of the file, as editors count.
WRONG = PROGRAM.replace("4x8xi1> -> tensor<f32>", "4xi1> -> tensor<f32>").replace(
    "4x8xi1>) -> tensor<f32>", "4xi1>) -> tensor<f32>")


class Session:
    def __init__(self):
        self.process = subprocess.Popen(
            ["sparse-lsp-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        self.requests = 0

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        header = f"Content-Length: {len(body)}\r\n\r\n".encode()
        self.process.stdin.write(header + body)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, value = line.split(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            sys.exit("error: the server has closed its output")
        return json.loads(self.process.stdout.read(length))

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def request(self, method, params):
        self.requests += 1
        self.send({"id": self.requests, "method": method, "params": params})
        while (answer := self.receive()).get("id") != self.requests:
            pass
        if "error" in answer:
            sys.exit(f"error: {method}: {answer['error']}")
        return answer["result"]

    def diagnostics(self):
        while (message := self.receive()).get("method") != (
                "textDocument/publishDiagnostics"):
            pass
        return message["params"]["diagnostics"]


def position(text, word, occurrence=0):
    """Where `word` stands in the program, as a position in the document."""
    offset = -1
    for _ in range(occurrence + 1):
        offset = text.index(word, offset + 1)
    before = text[:offset]
    return {"textDocument": {"uri": URI},
            "position": {"line": before.count("\n"),
                         "character": offset - before.rfind("\n") - 1}}


def main():
    session = Session()
    answer = session.request("initialize", {
        "processId": None, "rootUri": None, "capabilities": {}, "trace": "off"})
    print("hover provider:", answer["capabilities"]["hoverProvider"])
    session.notify("initialized", {})

    session.notify("textDocument/didOpen", {"textDocument": {
        "uri": URI, "languageId": "mlir", "version": 1, "text": WRONG}})
    for found in session.diagnostics():
        start = found["range"]["start"]
        print(f"diagnostic {start['line']}:{start['character']} "
              f"severity {found['severity']}: {found['message']}")

    session.notify("textDocument/didChange", {
        "textDocument": {"uri": URI, "version": 2},
        "contentChanges": [{"text": PROGRAM}]})
    print("after the change:", session.diagnostics())

    hover = session.request("textDocument/hover",
                            position(PROGRAM, "sparse_autograd.masked_reduce"))
    print("hover:", json.dumps(hover["contents"]["value"]))
    for what in ("definition", "references"):
        parameters = position(PROGRAM, "@loss", occurrence=1)
        if what == "references":
            parameters["context"] = {"includeDeclaration": False}
        for place in session.request(f"textDocument/{what}", parameters):
            start = place["range"]["start"]
            print(f"{what} {start['line']}:{start['character']}")

    session.request("shutdown", None)
    session.notify("exit", None)
    session.process.stdin.close()
    print("exit status", session.process.wait(timeout=60))


if __name__ == "__main__":
    main()
