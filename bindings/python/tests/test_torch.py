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


@pytest.mark.filterwarnings("ignore:Sparse")
def test_what_comes_back_and_what_is_refused(laplace, right):
    block = torch.from_numpy(np.stack([right, right[::-1].copy()], axis=1))
    results = spry.solve(laplace, block)
    assert isinstance(results.x, torch.Tensor) and isinstance(results[0].x, torch.Tensor)
    A = (2 * torch.eye(4).double()).to_sparse_csr()
    for solver in (spry.lsqr, spry.lsmr, spry.lgmres):
        assert np.allclose(solver(A, torch.ones(4).double())[0], 0.5)
    with pytest.raises(ValueError, match="bfloat16"):
        spry.solve(torch.eye(4).to(torch.bfloat16), np.ones(4))
    with pytest.raises(ValueError, match="dimensions"):
        spry.Matrix(torch.stack([torch.eye(3)] * 2).to_sparse_csr())
    short = torch.sparse_csr_tensor(torch.tensor([0, 1]), torch.tensor([0]), torch.tensor([1.0]), (200, 200),
                                    check_invariants=False)
    with pytest.raises(ValueError, match="2 offsets"):
        spry.Matrix(short)
