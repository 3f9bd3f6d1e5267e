"""What --dump-pass-pipeline prints is the pipeline.

  round_trip.py SCRATCH phases FILE...
  round_trip.py SCRATCH whole FILE...

For every file, and every phase that it can be compiled to if they are asked for,
the printed text runs as --pass-pipeline, gives the same bytes and prints itself.
"""

import os
import subprocess
import sys

FORMS = {
    "phases": [
        "compile-to=differentiate",
        "compile-to=select-formats",
        "compile-to=lower-sparse",
        "compile-to=target",
        "threads=1",
    ],
    "whole": ["compile-to=target"],
}


def run(pipeline, file, output):
    """Returns the text of the passes that ran; their result is in `output`."""
    result = subprocess.run(
        ["sparse-opt", pipeline, "--dump-pass-pipeline", file, "-o", output],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        sys.exit(f"{file}: error: {pipeline} failed\n{result.stderr}")
    first, text = result.stderr.split("\n", 1)
    if not first.startswith("Pass Manager with"):
        sys.exit(f"{file}: error: the first line of the dump is '{first}'")
    return text.strip()


def main():
    scratch, forms, *files = sys.argv[1:]
    os.makedirs(scratch, exist_ok=True)
    direct, again = (os.path.join(scratch, name) for name in ("direct", "again"))
    count = 0
    for file in files:
        for form in FORMS[forms]:
            text = run(f"--sparse-autograd={form}", file, direct)
            if run(f"--pass-pipeline={text}", file, again) != text:
                sys.exit(f"{file}: error: '{form}' is printed in another way again")
            with open(direct, "rb") as one, open(again, "rb") as other:
                if one.read() != other.read():
                    sys.exit(f"{file}: error: '{form}' gives other code as text")
            count += 1
    print(f"{count} pipelines")


if __name__ == "__main__":
    main()
