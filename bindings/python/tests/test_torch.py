"""Tensors of PyTorch, on the host, where it is installed."""

import os

import numpy as np
import pytest

import spry
from conftest import small_enough

if os.environ.get("SPRY_TEST_SANITIZED"):
    pytest.skip("PyTorch itself does not run under the address sanitizer", allow_module_level=True)
torch = pytest.importorskip("torch")


@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse_and_dense_tensors(laplace, right):
    A = torch.sparse_csr_tensor(torch.from_numpy(laplace.indptr.astype(np.int64)),
                                torch.from_numpy(laplace.indices.astype(np.int64)),
                                torch.from_numpy(laplace.data), laplace.shape)
    b = torch.from_numpy(right)
    for matrix in (A, A.to_dense(), A.to_sparse_coo(), laplace):
        result = spry.solve(matrix, b)
        assert isinstance(result.x, torch.Tensor) and result.x.dtype == torch.float64
        assert small_enough(laplace, result.x.numpy(), right, 1e-8)
    assert isinstance(spry.solve(laplace, right).x, np.ndarray)


@pytest.mark.filterwarnings("ignore:Sparse")
def test_other_types_and_views(laplace, right):
    single = spry.solve(laplace.astype("f"), torch.from_numpy(right.astype("f")))
    assert single.x.dtype == torch.float32 and single.converged
    z = torch.from_numpy(right + 1j * right[::-1])
    result = spry.solve(laplace, z.conj())
    assert small_enough(laplace, result.x.numpy(), z.conj().resolve_conj().numpy(), 1e-8)
    b = torch.from_numpy(np.repeat(right, 2))[::2].requires_grad_()
    assert small_enough(laplace, spry.solve(laplace, b).x.numpy(), right, 1e-8)
    block = torch.from_numpy(np.stack([right, right[::-1].copy()]).T.copy())
    assert spry.solve(laplace, block).converged
    x, info = spry.cg(laplace, torch.from_numpy(right))
    assert info == 0 and small_enough(laplace, x, right, 1e-5)
