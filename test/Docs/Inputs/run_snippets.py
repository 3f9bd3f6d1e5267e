"""Runs the snippets of Markdown files.

A fenced block that follows a line `<!-- run: COMMAND -->` is saved to a file,
and COMMAND, in which %s stands for that file, must succeed. A fenced block that
follows `<!-- prints -->` must be a part of what the last command printed, line
by line, apart from white space; one that follows `<!-- part of: FILE -->` a part
of that file, named from the folder of the Markdown file. Finding no snippet at
all is an error.

Usage: run_snippets.py SCRATCH-DIRECTORY FILE...
"""

import os
import re
import subprocess
import sys

SNIPPET = re.compile(
    r"^<!-- (?:run: (?P<command>.+?)|part of: (?P<whole>.+?)|(?P<prints>prints))"
    r" -->\n+"
    r"```[^\n]*\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
MARK = re.compile(r"^<!-- (?:run:|part of:|prints)", re.MULTILINE)


def lines_of(text):
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def contains(haystack, needle):
    return any(
        haystack[i : i + len(needle)] == needle
        for i in range(len(haystack) - len(needle) + 1)
    )


def run_file(path, scratch):
    """Returns the number of snippets that were run or compared."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    snippets = list(SNIPPET.finditer(text))
    if len(snippets) != len(MARK.findall(text)):
        sys.exit(f"{path}: error: a marked snippet has no fenced block below it")
    printed = None
    for number, match in enumerate(snippets):
        line = text.count("\n", 0, match.start()) + 1
        if match["whole"]:
            whole = os.path.join(os.path.dirname(path), match["whole"])
            with open(whole, encoding="utf-8") as file:
                if not contains(lines_of(file.read()), lines_of(match["body"])):
                    sys.exit(f"{path}:{line}: error: {whole} has no such part")
            continue
        if match["prints"]:
            if printed is None:
                sys.exit(f"{path}:{line}: error: nothing was run before this")
            if not contains(lines_of(printed), lines_of(match["body"])):
                sys.exit(f"{path}:{line}: error: the command printed\n{printed}")
            continue
        file_name = os.path.join(scratch, f"{os.path.basename(path)}.{number}")
        with open(file_name, "w", encoding="utf-8") as file:
            file.write(match["body"])
        result = subprocess.run(
            match["command"].replace("%s", file_name),
            shell=True,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode != 0:
            sys.exit(f"{path}:{line}: error: the command failed\n{result.stderr}")
        printed = result.stdout
    return len(snippets)


def main():
    scratch, *files = sys.argv[1:]
    os.makedirs(scratch, exist_ok=True)
    count = sum(run_file(file, scratch) for file in files)
    if count == 0:
        sys.exit("error: no snippet is marked as runnable")
    print(f"{count} snippets")


if __name__ == "__main__":
    main()
