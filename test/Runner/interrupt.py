"""An interrupt ends sparse-runner at once, with a message and by the signal.

RUN: %python %s sparse-runner %t
"""
import pathlib
import signal
import subprocess
import sys
import time

runner, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(exist_ok=True)
(folder / "loop.mlir").write_text("""
func.func @main(%n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %one) -> f64 {
    %b = math.sin %a : f64
    scf.yield %b : f64
  }
  return %r : f64
}
""")
for number in (signal.SIGINT, signal.SIGTERM):
    process = subprocess.Popen(
        [runner, folder / "loop.mlir", "--arg", "arg0=1000000000000"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    process.send_signal(number)
    try:
        _, errors = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        sys.exit(f"{number.name} does not end the loop")
    assert process.returncode == -number, process.returncode
    assert "sparse-runner: interrupted" in errors, errors
