"""The snippets of the documentation that need a framework do what the pages say."""

import contextlib
import io
import pathlib
import re
import socket

import pytest

DOCS = pathlib.Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(
    "framework, page", [("torch", "python.md"), ("jax", "python.md"), ("torch", "distributed.md")]
)
def test_snippets(framework, page, monkeypatch):
    module = pytest.importorskip(framework)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        monkeypatch.setenv("MASTER_PORT", str(s.getsockname()[1]))
    for name in ("MASTER_ADDR", "RANK", "WORLD_SIZE"):
        monkeypatch.setenv(name, "")
    names, printed = {framework: module}, ""
    exec("import numpy as np, scipy.sparse as sp, sparse_autograd as sa, sparse_autograd.numpy as snp", names)
    blocks = re.findall(rf"^```(python|text) {framework}\n(.*?)^```$", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    for kind, body in blocks:
        if kind == "text":
            assert printed == body
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            # The line of Python is asked for of a file.
            exec(compile(body, f"docs/{page}", "exec"), names)
        printed = output.getvalue()
