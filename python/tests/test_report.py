"""Reports, log records, and Ctrl-C."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

import sparse_autograd as sa
import sparse_autograd.numpy as snp


def test_report():
    f = sa.value_and_grad(lambda A, x: snp.sum((A @ x) ** 2), wrt=(0, 1))
    assert f.report["calls"] == 0 and f.report["conversion_share"] == 0
    A, x = sp.csr_array(np.eye(100)), np.ones((100, 2))
    for _ in range(3):
        f(A, x)
    report = f.report
    assert report["calls"] == 3 and report["compilations"] == 1 and report["compile_seconds"] > 0
    assert report["seconds"] > 0 and 0 < report["conversion_share"] < 1
    # Both sparse values: 101 positions, 100 coordinates, 100 values; two dense arrays.
    sparse = (101 + 100) * 4 + 100 * 8
    assert report["bytes"] == 2 * sparse + 2 * 1600 + 8
    assert report["dense_bytes"] == 2 * 80000 + 2 * 1600 + 8
    assert {"allocations", "pool_hits", "peak_bytes"} <= set(report)
    text = str(report)
    assert "dense bytes" in text and "163,208" in text and "%" in text
    f(A.astype(np.float32), x.astype(np.float32))
    assert f.report["compilations"] == 2 and f.report["calls"] == 4
    executable = f.lower(A, x).compile()
    next(iter(executable.entries.values()))(A, x)
    assert executable.report["calls"] == 1 and executable.report["compilations"] == 1


def test_shares():
    """What copies, checks and accumulates takes time, and the shares are of all of it."""
    rng = np.random.default_rng(0)
    table, words = np.ones((50000, 8)), rng.integers(0, 50000, 200000)
    rows = sa.value_and_grad(lambda t, w: snp.sum(snp.take(t, w) ** 2), rows=0)
    dense = sa.value_and_grad(lambda t, w: snp.sum(snp.take(t, w) ** 2))
    rows(table, words), dense(table, words)
    # The rows of a row-sparse gradient are brought into order.
    assert 0 < rows.report["accumulation_share"] < 1 and dense.report["accumulation_seconds"] == 0
    assert rows.report["validation_seconds"] == 0
    A = sp.random_array((2000, 2000), density=0.01, format="csr", rng=rng)
    product = sa.jit(lambda A, x: A @ x)
    product(A, np.ones(2000))
    report = product.report
    assert 0 < report["validation_share"] < 1 and report["accumulation_seconds"] == 0
    # The entry copies what is not contiguous: a conversion.
    copies = sa.jit(lambda x: snp.sum(x))
    x = np.ones((1500, 1500))
    for given, some in ((x, 0), (x.T, 1)):
        before = copies.report["conversion_seconds"]
        copies(given)
        after = copies.report["conversion_seconds"] - before
        if some:
            assert after > 5 * contiguous
        contiguous = after
    assert "accumulation share" in str(report)


def test_records(caplog):
    caplog.set_level(logging.INFO, logger="sparse_autograd")

    def train(x):
        def epoch(i, x):
            loss, g = sa.value_and_grad(lambda x: snp.sum(x**2))(x)
            snp.progress(epoch=i, loss=loss)
            return x - 0.1 * g

        return snp.fori_loop(0, 3, epoch, x)

    sa.jit(train, verbose=True)(np.ones(2))
    messages = [r.getMessage() for r in caplog.records]
    assert [m.split(":")[0] for m in messages[:5]] == [
        "differentiate",
        "select-formats",
        "lower-sparse",
        "target",
        "machine code",
    ]
    assert messages[5] == "epoch 0  loss 2" and len(messages) == 8
    assert caplog.records[6].values == {"epoch": 1, "loss": pytest.approx(2 * 0.64)}


class Stop(Exception):
    pass


def test_a_handler_stops_a_program():
    class Handler(logging.Handler):
        def handle(self, record):
            raise Stop

    handler, logger = Handler(), logging.getLogger("sparse_autograd")
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.INFO)
    try:
        with pytest.raises(Stop):
            sa.jit(lambda x: snp.fori_loop(0, 10, lambda i, x: (snp.progress(i=i), x * 2)[1], x))(1.0)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert sa.jit(lambda x: x * 2)(1.0) == 2


@pytest.fixture
def interrupt_soon():
    """Sends this process a SIGINT after some seconds. A process that was started in the
    background ignores it: Python's handler is set for the test."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda seconds: threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    signal.signal(signal.SIGINT, handler)


def test_interrupted_compilation(interrupt_soon):
    # Many loops, so that it takes long.
    def deep(x):
        for _ in range(60):
            x = snp.softmax(x @ x.T) @ x
        return snp.sum(x)

    f = sa.value_and_grad(deep)
    x = np.ones((4, 4))
    f.lower(x)
    interrupt_soon(0.3)
    with pytest.raises(KeyboardInterrupt):
        f(x)
        time.sleep(5)
    assert f.compilations == 0
    assert sa.jit(lambda x: x * 2)(1.0) == 2


def test_interrupted_program(interrupt_soon):
    f = sa.jit(lambda x, n: snp.fori_loop(0, n, lambda i, x: (snp.progress(i=i), snp.sin(x))[1], x))
    f(np.ones(100), 1)
    interrupt_soon(0.2)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        f(np.ones(1000), 10**9)
    assert time.monotonic() - begin < 20


def test_nothing_is_printed_at_the_end():
    code = "import numpy as np, sparse_autograd as sa\nf = sa.jit(lambda x: x * 2)\nf(np.ones(2))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == done.stdout == ""
