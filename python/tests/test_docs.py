"""The snippets of docs/python.md and of the README do what the pages say."""

import contextlib
import io
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
BLOCK = re.compile(r"^```(python|text|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_snippets(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text()
    names, printed, count = {}, None, 0
    for match in BLOCK.finditer(text):
        kind, body = match.groups()
        where = f"{page}:{text.count(chr(10), 0, match.start()) + 1}"
        if kind == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(body, where, "exec"), names)
            printed, count = output.getvalue(), count + 1
        elif kind == "text":
            assert printed == body, where
        elif body.startswith("sparse-compile ") and os.path.exists("model.mlir"):
            if shutil.which("sparse-compile") is None:
                pytest.skip("sparse-compile is not in PATH")
            subprocess.run(body.split(), check=True)
    assert count
