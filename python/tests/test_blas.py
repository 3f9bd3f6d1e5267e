"""Who computes products of dense matrices. What becomes of a system without a BLAS is
shown by test/Python/wheel.test; here it is pretended."""

import warnings

import numpy as np
import pytest

import sparse_autograd as sa
from sparse_autograd import _blas, _core


def test_the_choice_is_made_before_the_first_product():
    sa.jit(lambda x: x @ x)(np.eye(64))
    state, file = _core.blas()
    assert (state == _blas._LOADED) == (file is not None)
    assert state != _blas._UNUSED and not _core.set_blas("libopenblas.so.0")


def test_a_warning_without_one(monkeypatch):
    f = sa.jit(lambda x: x * 2)
    f(np.ones(2))
    state = _blas._UNUSED
    monkeypatch.setattr(_blas._core, "blas", lambda: (state, None), raising=True)
    monkeypatch.setattr(_blas, "_is_settled", False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(np.ones(2))
    state = _blas._MISSING
    with pytest.warns(RuntimeWarning, match="install scipy-openblas32") as said:
        f(np.ones(2))
    # At the line of the caller, once.
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(np.ones(2))
