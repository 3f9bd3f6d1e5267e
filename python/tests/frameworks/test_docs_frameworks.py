"""The snippets of docs/python.md that need a framework do what the page says."""

import contextlib
import io
import pathlib
import re

import pytest

PAGE = (pathlib.Path(__file__).parents[3] / "docs/python.md").read_text()


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_snippets(framework):
    pytest.importorskip(framework)
    names, printed = {}, ""
    exec("import numpy as np, scipy.sparse as sp, sparse_autograd as sa, sparse_autograd.numpy as snp", names)
    blocks = re.findall(rf"^```(python|text) {framework}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert blocks
    for kind, body in blocks:
        if kind == "text":
            assert printed == body
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            # The line of Python is asked for of a file.
            exec(compile(body, "docs/python.md", "exec"), names)
        printed = output.getvalue()
