"""Systems on a CUDA device: CuPy's and PyTorch's arrays, which nothing leaves."""

import numpy as np
import pytest

import spry


def _cupy():
    cupy = pytest.importorskip("cupy")
    try:
        cupy.zeros(1).sum().get()
    except Exception as cause:  # noqa: BLE001: whatever a machine without a device says
        pytest.skip(f"no CUDA device: {cause}")
    return cupy, pytest.importorskip("cupyx.scipy.sparse")


def _torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return torch


def _system(kind, char="d"):
    A = spry.generate("poisson2d", size=30).to_scipy().tocsr().astype(char)
    b = np.linspace(1, 2, 900).astype(char)
    if kind == "cupy":
        cupy, sparse = _cupy()
        return A, b, sparse.csr_matrix(A), cupy.asarray(b)
    torch = _torch()
    there = torch.sparse_csr_tensor(*(torch.from_numpy(part).cuda() for part in (A.indptr, A.indices, A.data)),
                                    A.shape)
    return A, b, there, torch.from_numpy(b).cuda()


def _host(x):
    return x.get() if hasattr(x, "get") else x.cpu().numpy()


def _close(A, x, b, tol):
    r = b - A @ _host(x)
    assert np.linalg.norm(r) <= 1.5 * tol * np.linalg.norm(b)


@pytest.mark.parametrize("kind", ["cupy", "torch"])
@pytest.mark.parametrize("char", ["f", "d", "F", "D"])
def test_drop_ins(kind, char):
    A, b, A_device, b_device = _system(kind, char)
    tol = 1e-4 if char in "fF" else 1e-9
    for method in (spry.cg, spry.bicgstab, spry.gmres, spry.minres, spry.cgs, spry.bicg, spry.tfqmr):
        x, info = method(A_device, b_device, rtol=tol)
        assert info == 0, method
        assert type(x) is type(b_device) and x.dtype == b_device.dtype
        _close(A, x, b, tol)


@pytest.mark.parametrize("kind", ["cupy", "torch"])
def test_solve(kind):
    A, b, A_device, b_device = _system(kind)
    for options in ({}, {"method": "cg", "precon": None}, {"method": "cg", "precon": "amg"},
                    {"method": "cg", "precon": "jacobi"}):
        result = spry.solve(A_device, b_device, tol=1e-8, **options)
        assert result.converged and type(result.x) is type(b_device)
        _close(A, result.x, b, 1e-8)
    again = spry.solve(A, b_device, tol=1e-8)  # the matrix on the host, b on the device
    _close(A, again.x, b, 1e-8)


@pytest.mark.parametrize("kind", ["cupy", "torch"])
def test_solver_is_kept(kind):
    A, b, A_device, b_device = _system(kind)
    with spry.Solver(A_device, method="cg", precon=None, tol=1e-8) as solver:
        first, second = solver.solve(b_device), solver.solve(2 * b_device)
    _close(A, first.x, b, 1e-8)
    _close(A, second.x, 2 * b, 1e-8)
    third = spry.solve(A_device, b_device, first.x, tol=1e-8, method="cg", precon=None)
    assert third.iterations <= 1


def test_columns():
    cupy, _ = _cupy()
    A, b, A_device, b_device = _system("cupy")
    block = cupy.stack([b_device, b_device[::-1]], axis=1)
    results = spry.solve(A_device, block, tol=1e-8, method="cg", precon=None)
    assert results.x.shape == (900, 2) and results.converged
    _close(A, results.x[:, 1], b[::-1], 1e-8)


def test_unsorted_and_wrong():
    cupy, sparse = _cupy()
    A, b, _, b_device = _system("cupy")
    back = A[:, ::-1].tocsr()
    mirrored = sparse.csr_matrix((cupy.asarray(back.data), cupy.asarray(back.indices),
                                  cupy.asarray(back.indptr)), shape=A.shape)
    x, info = spry.gmres(mirrored, b_device, rtol=1e-6, restart=200)
    assert info == 0
    _close(back, x, b, 1e-6)
    wrong = sparse.csr_matrix((cupy.asarray(A.data), cupy.asarray(A.indices + 900),
                               cupy.asarray(A.indptr)), shape=A.shape)
    with pytest.raises(spry.Error, match="column"):
        spry.cg(wrong, b_device)
    with pytest.raises(ValueError):
        spry.cg(mirrored, b_device[:10])
    with pytest.raises(ValueError):
        spry.cg(mirrored, b_device.astype("f"))


def test_callback_sees_x():
    A, b, A_device, b_device = _system("cupy")
    seen = []
    x, info = spry.cg(A_device, b_device, rtol=1e-6, callback=lambda x: seen.append(x))
    assert info == 0 and len(seen) > 3 and type(seen[-1]) is type(b_device)
    _close(A, seen[-1], b, 1e-5)


@pytest.mark.parametrize("kind", ["cupy", "torch"])
def test_grids_on_the_device(kind):
    grid = spry.Grid((64, 48))
    rng = np.random.default_rng(5)
    u, z = rng.standard_normal(grid.shape), rng.standard_normal(grid.shape) + 1j
    if kind == "cupy":
        cupy, _ = _cupy()
        put, get = cupy.asarray, cupy.asnumpy
    else:
        torch = _torch()
        put, get = (lambda v: torch.from_numpy(v).cuda()), (lambda v: v.cpu().numpy())
    here, there = (grid.stencil("-div(k*grad)", k=lambda x, y: 1 + x, device=name) for name in ("cpu", "cuda"))
    made = there.apply(put(u))
    assert type(made) is type(put(u)) and np.allclose(get(made), here.apply(u), atol=1e-9)
    b = here.rhs(u)
    result = there.solve(put(b), method="cg", precon="gmg", tol=1e-9)
    assert result.converged and result.device.startswith("cuda") and np.allclose(here.apply(get(result.x)), b, atol=1e-6)
    later, run = spry.Stepper(grid.stencil("laplace", device="cuda"), dt=0).run(put(u), 0, 1e-4)
    assert np.allclose(get(later), spry.Stepper(grid.stencil("laplace"), dt=0).run(u, 0, 1e-4)[0], atol=1e-6)
    floor = np.full(grid.shape, -0.1)
    lying = spry.bounded(there, put(b), put(floor), tol=1e-9)
    assert lying.converged and (get(lying.x) >= floor).all()
    waves = [spry.Wave(grid, 400.0, tol=1e-8, device=name) for name in ("cpu", "cuda")]
    assert np.allclose(get(waves[1].solve(put(z)).x), waves[0].solve(z).x, atol=1e-6)
    with pytest.raises(NotImplementedError):
        spry.Stepper(lambda t, v: v, dt=0.1).run(put(u), 0, 1)


def test_gradients_on_the_device():
    torch = _torch()
    A = spry.generate("poisson2d", size=30).to_scipy().tocsr()
    b = np.linspace(1, 2, 900)
    right = torch.from_numpy(b).cuda().requires_grad_()
    spry.solve(A, right, method="cg", precon="none", tol=1e-10).x.sum().backward()
    assert np.allclose(A.T @ right.grad.cpu().numpy(), 1, atol=1e-6)
