"""Grids: fields, stencils, steps in time, waves, obstacles."""

import gc

import numpy as np
import pytest
import scipy.sparse as sp

import spry


@pytest.fixture
def square():
    return spry.Grid((24, 16), box=((0, 3), (0, 2)))


def test_fields_and_places(square):
    assert square.shape == (15, 23) and square.points_shape == (17, 25) and square.unknowns == 15 * 23
    assert square.spacing == (0.125, 0.125) and square.high == (3, 2) and "23 x 15" in repr(square)
    x, y = square.coordinates()
    assert np.allclose(x[0], np.arange(1, 24) / 8) and np.allclose(y[:, 0], np.arange(1, 16) / 8)
    assert (square.field(lambda x, y: x + 10 * y) == x + 10 * y).all()
    assert square.field(1j).dtype == complex and square.field(2, all_points=True).shape == (17, 25)
    cube = spry.Grid((4, 6, 8), x="periodic", boundary="neumann")
    assert cube.shape == (9, 7, 4)
    x, y, z = cube.coordinates()
    assert np.ptp(cube.field(lambda x, y, z: z), axis=(1, 2)).max() == 0
    assert (x.shape, y.shape, z.shape) == ((1, 1, 4), (1, 7, 1), (9, 1, 1))


def test_points_of_ones_own():
    grid, places = spry.Grid(8), np.linspace(0, 1, 9) ** 2
    grid.set_points(0, places)
    assert np.allclose(grid.coordinates()[0], places[1:-1])
    rows = grid.stencil("dx").apply(grid.field(lambda x: x**2 - x))
    assert np.allclose(rows[1:-1], 2 * places[2:-2] - 1)


@pytest.mark.parametrize("order", [2, 4, 6])
def test_solutions_have_their_order(order):
    errors = []
    for n in (16, 32):
        grid = spry.Grid((n, n))
        A = grid.stencil("-laplace", order=order)
        b = A.rhs(grid.field(lambda x, y: 13 * np.sin(3 * x) * np.cos(2 * y)),
                  lambda axis, x, y, z: np.sin(3 * x) * np.cos(2 * y))
        u = A.solve(b, method="bicgstab", precon="jacobi", tol=1e-13, maxiter=5000).x
        errors.append(abs(u - grid.field(lambda x, y: np.sin(3 * x) * np.cos(2 * y))).max())
    assert np.log2(errors[0] / errors[1]) > order - 0.5


def test_stencil_is_an_operator(square):
    A = square.stencil("-div(k*grad) + 3*dx + c", k=lambda x, y: 1 + x * y, c=2.0)
    M, u = A.to_matrix().tocsr(), np.random.default_rng(1).standard_normal(square.shape)
    assert A.shape == M.shape and abs(M - M.T).max() > 1
    slack = 1e-13 * abs(M).sum(axis=1).max()
    assert abs(A.apply(u).reshape(-1) - M @ u.reshape(-1)).max() < slack
    assert abs(A @ u.reshape(-1) - M @ u.reshape(-1)).max() < slack
    assert abs(A.T @ u.reshape(-1) - M.T @ u.reshape(-1)).max() < slack
    X = np.random.default_rng(2).standard_normal((345, 3))
    assert abs(A @ X - M @ X).max() < slack
    solver = spry.Solver(A, method="gmres", precon="jacobi", tol=1e-10)
    assert np.linalg.norm(M @ (solver @ X[:, 0]) - X[:, 0]) <= 1.01e-10 * np.linalg.norm(X[:, 0])
    z = square.stencil("dx + k", k=1j)
    assert z.dtype == complex and z.apply(square.field(1.0)).dtype == complex


def test_multigrid_needs_no_matrix():
    grid = spry.Grid((64, 64), boundary="dirichlet", x="neumann:dirichlet")
    result = grid.stencil("-laplace").solve(grid.field(1.0), method="cg", precon="gmg")
    assert result.converged and result.iterations < 15 and result.x.shape == grid.shape
    assert result.precon.startswith("gmg")
    alone = grid.stencil("-laplace").solve(grid.field(1.0))
    assert alone.converged and alone.precon.startswith("gmg") and alone.iterations < 15


def test_faults_of_texts_and_functions(square):
    with pytest.raises(ValueError, match="q is no coefficient"):
        square.stencil("-laplace + q")
    with pytest.raises(ValueError, match="shape"):
        square.stencil("k", k=np.ones(7))
    with pytest.raises(ValueError):
        spry.Grid((4, 4), boundry="neumann")
    A = square.stencil("-laplace")
    with pytest.raises(ValueError, match="numbers"):
        A.apply(np.ones((3, 3)))

    def broken(axis, x, y, z):
        raise LookupError("no value here")

    with pytest.raises(LookupError, match="no value"):
        A.rhs(None, broken)
    with pytest.raises(TypeError):
        A.rhs(None, lambda axis, x, y, z: None)
    assert A.rhs().max() == 0


def test_waves_of_differences():
    grid = spry.Grid((96, 96), box=((0, 6), (0, 6)), boundary="absorb", layer=20)
    A = grid.helmholtz(20.0, scheme="optimal", layer="pml")
    assert A.dtype == complex and A.forecast["points_per_wavelength"] > 10
    result = A.solve(A.rhs(grid.incoming(kind="point", at=(3, 3))), method="cocr", precon="jacobi", maxiter=3000)
    assert result.converged
    F = grid.fourier()
    u = np.random.default_rng(3).standard_normal(F.shape[0]) + 0j
    n = grid.shape[0]
    assert np.allclose((F @ u).reshape(n, n), np.fft.fft2(u.reshape(n, n), norm="ortho"))
    assert np.allclose(F.H @ (F @ u), u)
    assert grid.absorb(kind="pml", axis="x").shape == grid.points_shape
    assert spry.Grid(20, boundary="absorb", layer=5).absorb(float, strength=3).max() <= 3


def test_born_series_and_its_adjoint():
    grid = spry.Grid((30, 24), box=((0, 3), (0, 2.4)), boundary="neumann")
    wave = spry.Wave(grid, lambda x, y: 16 + 4 * np.exp(-x * y), tol=1e-10)
    rng = np.random.default_rng(4)
    f, g = (rng.standard_normal(grid.shape) + 1j for _ in "fg")
    results = wave.solve([f, g])
    assert results.converged and results.x.shape == (2, *grid.shape) and results[:1].x.shape == (1, *grid.shape)
    assert (wave.solve(f).x == results[0].x).all()
    v = wave.solve(g, adjoint=True).x
    u = results[0].x
    size = np.linalg.norm
    assert abs(np.vdot(g, u) - np.vdot(v, f)) <= 1e-10 * (size(u) * size(g) + size(f) * size(v))
    assert wave.info["per_wavelength"] > 2 and wave.info["padded"][0] > 31
    wave.set_medium(grid.field(16.0))
    assert not np.allclose(wave.solve(f).x, u)
    with pytest.raises(ValueError):
        wave.set_medium(grid.field(16 - 1j))
    with pytest.raises(ValueError, match="shape"):
        wave.set_medium(np.ones(5))


def test_obstacles():
    grid = spry.Grid((32, 32))
    A, b, floor = grid.stencil("-laplace"), grid.field(-10.0), grid.field(-0.2)
    result = spry.bounded(A, b, floor, tol=1e-9)
    assert result.converged and result.contacts == (result.x == floor).sum() > 0 and result.levels > 1
    rest = A.apply(result.x) - b
    assert (result.x >= floor).all() and rest.min() >= -1e-8 and abs(np.minimum(rest, result.x - floor)).max() <= 1e-8
    again = spry.bounded(A, b, floor, result.x, tol=1e-9)
    assert again.iterations <= 1
    assert spry.bounded(A, -10.0, -1e38).contacts == 0
    for other in (A.to_matrix(), A.to_matrix().to_scipy(), spry.Preconditioner(A.to_matrix(), "jacobi")):
        with pytest.raises(spry.UsageError, match="Stencil"):
            spry.bounded(other, b, floor)


def test_steps_in_time():
    grid = spry.Grid(32)
    A, u0 = grid.stencil("laplace"), grid.field(lambda x: np.sin(np.pi * x))
    rate = (A.apply(u0) / u0)[15]
    for method, order in (("heun", 2), ("rk4", 4), ("implicit-euler", 1), ("crank-nicolson", 2)):
        errors = []
        for dt in (4e-4, 2e-4):
            stepper = spry.Stepper(A, method=method, dt=dt, solver={"tol": 1e-13})
            u, run = stepper.run(u0, 0, 0.02)
            errors.append(abs(u - np.exp(0.02 * rate) * u0).max())
            assert run["steps"] == round(0.02 / dt) and run["t"] == 0.02 and u0.max() <= 1
        assert np.log2(errors[0] / errors[1]) > order - 0.3 or errors[1] < 1e-13
    assert abs(spry.Stepper(A, method="euler").limit(u0) / (2 / (4 * 32**2)) - 1) < 0.05


def test_steppers_take_functions_and_sources():
    seen = []
    stepper = spry.Stepper(lambda t, u: np.cos(t) * np.ones_like(u), dt=0.01)
    u, run = stepper.run(np.zeros((2, 3)), 0, 1, watch=lambda step, t, u: seen.append((step, u[0, 0])))
    assert np.allclose(u, np.sin(1), atol=1e-9) and len(seen) == run["steps"] == 100 and u.shape == (2, 3)
    u, run = stepper.run(np.zeros(2), 0, 1, watch=lambda step, t, u: step < 7)
    assert run["steps"] == 7 and run["stopped"]
    A, M = sp.csr_matrix(np.diag([-1.0, -2.0])), sp.csr_matrix(2 * np.eye(2))
    for part in (A, spry.Matrix(A), spry.Preconditioner(sp.csr_matrix(np.diag([-1.0, -0.5])), "jacobi")):
        stepper = spry.Stepper(part, M, source=lambda t: np.ones(2), method="crank-nicolson", dt=0.01)
        u, _ = stepper.run(np.zeros(2), 0, 1)
        assert np.allclose(u, (1 - np.exp(np.array([-1, -2]) / 2)) / [1, 2], atol=1e-4)
    stepper = spry.Stepper(A)
    stepper.set_table([[0, 0], [0.5, 0]], [0, 1])  # the midpoint rule
    stepper.set(dt=0.01)
    assert np.allclose(stepper.run(np.ones(2), 0, 1)[0], np.exp([-1, -2]), atol=1e-4)


def test_steps_in_place_make_no_copies():
    grid = spry.Grid(16)
    stepper, u = spry.Stepper(grid.stencil("laplace"), dt=1e-4), grid.field(1.0)
    made, _ = stepper.run(u, 0, 1e-3, inplace=True)
    assert made is u and u.min() < 1
    with pytest.raises(ValueError, match="in place"):
        stepper.run(np.ones(15, "f"), 0, 1e-3, inplace=True)
    places = []
    spry.Stepper(lambda t, v: places.append(v.ctypes.data) or v, dt=0.5, method="euler").run(u, 0, 0.5, inplace=True)
    assert places == [u.ctypes.data]  # the function sees the caller's array


def test_faults_of_steppers():
    with pytest.raises(ValueError, match="not stable"):
        spry.Stepper(spry.Grid(32).stencil("laplace"), method="euler", dt=1e-2).run(np.ones(31), 0, 1)
    with pytest.raises(ZeroDivisionError):
        spry.Stepper(lambda t, u: 1 / 0, dt=0.1).run(np.ones(2), 0, 1)
    with pytest.raises(ValueError):
        spry.Stepper(lambda t, u: np.ones(3), dt=0.1).run(np.ones(2), 0, 1)
    with pytest.raises(ValueError, match="read-only"):
        spry.Stepper(lambda t, u: u.__setitem__(0, 1), dt=0.1).run(np.ones(2), 0, 1)
    with pytest.raises(ValueError, match="source"):
        spry.Stepper(lambda t, u: u, np.eye(2))


def test_objects_go_in_any_order(tmp_path):
    grid = spry.Grid((12, 12))
    A = grid.stencil("-laplace + c", c=grid.field(1.0, all_points=True))
    stepper = spry.Stepper(A, dt=1e-4)
    grid.write(tmp_path / "u.npy", grid.field(lambda x, y: x))
    assert np.allclose(np.load(tmp_path / "u.npy").reshape(11, 11), grid.field(lambda x, y: x))
    del grid
    gc.collect()
    u = A.apply(np.ones((11, 11)))
    del A
    gc.collect()
    assert stepper.run(u, 0, 1e-3)[1]["steps"] == 10


def made_steppers(dt=0.005):
    A = spry.Grid(16).stencil("laplace")
    return (spry.Stepper(A, method="implicit-euler", dt=0.05),
            spry.Stepper(A, method="crank-nicolson", dt=dt))


def test_parareal_is_the_fine_run_in_the_end():
    start = spry.Grid(16).field(lambda x: np.sin(np.pi * x))
    alone = spry.parareal(made_steppers, start, 0, 0.2, slices=4, tol=0, compare=True)
    assert alone.converged and alone.slices == 4 and alone.iterations <= 4 and alone.difference == 0
    several = spry.parareal(made_steppers, start, 0, 0.2, workers=3, slices=4, tol=0)
    assert several.workers == 3 and (several.x == alone.x).all()
    near = spry.parareal(made_steppers, start, 0, 0.2, slices=4, tol=1e-2, compare=True)
    assert 0 < near.difference <= near.residual <= 1e-2 and near.iterations < 4
    assert (start == spry.Grid(16).field(lambda x: np.sin(np.pi * x))).all()


def test_parareal_of_functions():
    def make():
        return (spry.Stepper(lambda t, u: -u, method="euler", dt=0.25), spry.Stepper(lambda t, u: -u, dt=0.01))

    result = spry.parareal(make, np.ones((2, 3)), 0, 1, workers=2, slices=4, tol=0)
    assert result.x.shape == (2, 3) and abs(result.x - np.exp(-1)).max() < 1e-9

    def fails(t, u):
        if t > 0.6:
            raise KeyError("lost")
        return -u

    with pytest.raises(KeyError, match="lost"):
        spry.parareal(lambda: (spry.Stepper(lambda t, u: -u, method="euler", dt=0.25), spry.Stepper(fails, dt=0.05)),
                      np.ones(3), 0, 1, workers=2, slices=4)


def test_faults_of_parareal():
    shared = made_steppers()
    with pytest.raises(ValueError, match="of its own"):
        spry.parareal(lambda: shared, np.ones(15), 0, 1, workers=2)
    with pytest.raises(ValueError, match="workers"):
        spry.parareal(made_steppers, np.ones(15), 0, 1, workers=0)
    with pytest.raises(ValueError, match="slice"):
        spry.parareal(made_steppers, np.ones(15), 0, 1, slcies=3)


def test_halo_of_a_whole_grid(square):
    halo, u = square.halo((1, 2)), square.field(lambda x, y: x * y)
    assert halo.shape == square.shape and halo.begin == (0, 0) and halo.end == square.shape
    out = np.zeros(square.shape)
    assert halo.exchange(u, out) is out and (out == u).all()
    for bad in (lambda: square.halo((1, 2, 3)), lambda: square.halo(-1), lambda: halo.exchange(u[1:]),
                lambda: halo.exchange(u, np.zeros(3))):
        with pytest.raises(ValueError):
            bad()


def test_functions_as_operators(square):
    A, calls = square.stencil("-laplace"), []
    own = square.operator(lambda u: calls.append(u.shape) or A.apply(u))
    b = square.field(1.0)
    x = spry.solve(own, b.reshape(-1), method="cg", precon=None, tol=1e-10).check().x
    assert set(calls) == {square.shape}
    assert abs(x.reshape(square.shape) - A.solve(b, tol=1e-10).x).max() < 1e-8
    u = np.random.default_rng(1).standard_normal(square.shape)
    assert (own @ u.reshape(-1) == A.apply(u).reshape(-1)).all()
