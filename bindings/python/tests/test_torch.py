"""Tensors of PyTorch, on the host, where it is installed."""

import os

import numpy as np
import pytest

import spry
from conftest import small_enough, what_comes_back

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
    assert small_enough(laplace, spry.solve(laplace, b).x.detach().numpy(), right, 1e-8)
    block = torch.from_numpy(np.stack([right, right[::-1].copy()]).T.copy())
    assert spry.solve(laplace, block).converged
    x, info = spry.cg(laplace, torch.from_numpy(right))
    assert info == 0 and isinstance(x, torch.Tensor) and small_enough(laplace, x.numpy(), right, 1e-5)


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
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 0):
        return  # which checks what it is given itself
    short = torch.sparse_csr_tensor(torch.tensor([0, 1]), torch.tensor([0]), torch.tensor([1.0]), (200, 200),
                                    check_invariants=False)
    with pytest.raises(ValueError, match="2 offsets"):
        spry.Matrix(short)


def test_whatever_takes_a_tensor_gives_one(laplace, right):
    for x, y in zip(what_comes_back(torch.from_numpy, laplace, right), what_comes_back(np.array, laplace, right)):
        assert isinstance(x, torch.Tensor) and np.allclose(x.numpy(), y)


def regular(dtype):
    """A matrix and right-hand sides whose gradients are wanted."""
    torch.manual_seed(0)
    A = (torch.rand(6, 6, dtype=dtype) + 4 * torch.eye(6, dtype=dtype)).requires_grad_()
    return A, torch.rand(6, dtype=dtype, requires_grad=True), torch.rand(6, 3, dtype=dtype, requires_grad=True)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_gradients(dtype):
    A, b, B = regular(dtype)
    for right in (b, B):
        assert torch.autograd.gradcheck(lambda A, b: spry.solve(A, b, tol=1e-13).x, (A, right))
    iterated = {"method": "gmres", "precon": "jacobi", "tol": 1e-13}
    assert torch.autograd.gradcheck(lambda b: spry.solve(A.detach(), b, **iterated).x, (b,))


@pytest.mark.filterwarnings("ignore:Sparse")
def test_gradients_of_sparse_matrices():
    A, b, _ = regular(torch.float64)
    with torch.no_grad():
        A *= torch.rand(6, 6) + torch.eye(6) > 0.4
    torch.linalg.solve(A, b.detach()).pow(2).sum().backward()
    for sparse in (A.detach().to_sparse_csr(), A.detach().to_sparse()):
        sparse.requires_grad_()
        spry.solve(sparse, b.detach()).x.pow(2).sum().backward()
        assert sparse.grad.layout == sparse.layout
        assert torch.allclose(sparse.grad.to_dense(), A.grad * (A != 0))
    solver = spry.Solver(A.detach().numpy())
    solver.solve(b).x.sum().backward()
    assert torch.allclose(b.grad, torch.linalg.solve(A.detach().T, torch.ones(6).double()))
    assert not solver.solve(b.detach()).x.requires_grad


def test_what_has_no_gradient(laplace, right):
    from scipy.sparse.linalg import LinearOperator

    forward = LinearOperator(laplace.shape, matvec=lambda v: laplace @ v, dtype=float)
    b = torch.from_numpy(right).requires_grad_()
    result = spry.solve(forward, b, method="cg", precon="none")
    assert result.converged
    with pytest.raises(ValueError, match="rmatvec"):
        result.x.sum().backward()
