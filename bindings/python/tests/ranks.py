"""Run by mpirun on any number of ranks: systems over mpi4py, compared with the same ones solved alone."""

import sys

import numpy as np
from mpi4py import MPI

import spry


def main() -> None:
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    whole = spry.generate("poisson2d", size=40).to_scipy().tocsr()
    n = whole.shape[0]
    starts = [n * r // size for r in range(size + 1)]
    mine = slice(starts[rank], starts[rank + 1])
    b = np.linspace(1, 2, n)
    with spry.Ranks(comm) as ranks:
        assert (ranks.rank, ranks.size) == (rank, size)
        A = ranks.matrix(whole[mine])
        for options in ({"method": "cg", "precon": "jacobi"}, {"method": "gmres", "precon": "ilu"},
                        {"method": "bicgstab", "precon": None}):
            result = spry.solve(A, b[mine], tol=1e-9, **options)
            assert result.converged, result
            x = np.concatenate(comm.allgather(result.x))
            assert np.linalg.norm(b - whole @ x) <= 1.01e-9 * np.linalg.norm(b)
            assert len(set(comm.allgather(result.iterations))) == 1
        with spry.Solver(A, method="cg", precon="jacobi", tol=1e-9) as solver:
            assert solver.solve(b[mine]).converged and solver.solve(2 * b[mine]).converged
        bad = whole[mine].copy()
        if rank == size - 1:
            bad.indices[0] = n + 5
        try:
            ranks.matrix(bad)
            raise AssertionError("a column beyond the last was taken")
        except spry.InputError as error:
            said = str(error)
        assert len(set(comm.allgather(said))) == 1 and "column" in said, said
    assert spry.solve(whole, b).converged  # alone again
    check_grids(comm)
    try:
        spry.Ranks("world")
        raise AssertionError("a text was taken for a communicator")
    except spry.UsageError:
        pass
    if rank == 0:
        print(f"{size} ranks: all passed")


def whole_of(comm, grid, u):
    """The field of all ranks from the blocks; all axes but the slowest are whole."""
    return np.concatenate(comm.allgather(u), axis=0)


def check_grids(comm) -> None:
    """Partitioned grids against the same ones alone: coefficients, products by the halo, solves; parareal."""
    size, sides = comm.Get_size(), (12, 20)
    alone = spry.Grid(sides)
    expected = alone.stencil("-laplace")
    u = alone.field(lambda x, y: np.exp(x + 2 * y) * np.sin(9 * y))
    with spry.Ranks(comm) as ranks:
        grid = spry.Grid(sides, ranks=(1, size))
        assert sum(comm.allgather(grid.shape[0])) == 19 and sum(comm.allgather(grid.points_shape[0])) == 21
        mine = grid.field(lambda x, y: np.exp(x + 2 * y) * np.sin(9 * y))
        assert (whole_of(comm, grid, mine) == u).all()
        halo = grid.halo((1, 0))
        lines = slice(halo.begin[0], halo.end[0])
        box = halo.exchange(mine)
        assert (box == u[lines]).all() and (box[halo.inner] == mine).all() and box.shape == halo.shape
        assert halo.begin[0] == max(grid._info.begin[1] - 1, 0) and (halo.exchange(2 * mine, box) == 2 * u[lines]).all()

        def minus_laplace(v):
            wide = np.pad(halo.exchange(v), 1)
            if halo.begin[0] < grid._info.begin[1]:
                wide = wide[1:]  # what is before the block is there, no zeros are needed
            if halo.end[0] > grid._info.end[1]:
                wide = wide[:-1]
            x, y = (12**2, 20**2)
            inner = wide[1:-1, 1:-1]
            return (x * (2 * inner - wide[1:-1, :-2] - wide[1:-1, 2:])
                    + y * (2 * inner - wide[:-2, 1:-1] - wide[2:, 1:-1]))

        A = grid.operator(minus_laplace)
        slack = 1e-14 * 8 * 20**2 * abs(u).max()
        assert abs(whole_of(comm, grid, minus_laplace(mine)) - expected.apply(u)).max() <= slack
        result = spry.solve(A, minus_laplace(mine).reshape(-1), method="cg", precon=None, tol=1e-10)
        assert result.converged and len(set(comm.allgather(result.iterations))) == 1
        x = whole_of(comm, grid, result.x.reshape(grid.shape))
        b = expected.apply(u)
        assert np.linalg.norm(b - expected.apply(x)) <= 1.01e-10 * np.linalg.norm(b)
        K = grid.stencil("-div(k*grad)", k=lambda x, y: 1 + x * y)
        same = alone.stencil("-div(k*grad)", k=lambda x, y: 1 + x * y)
        assert (whole_of(comm, grid, K.apply(mine)) == same.apply(u)).all()
        solved = K.solve(K.apply(mine), precon="gmg", tol=1e-10).check().x
        assert abs(whole_of(comm, grid, solved) - u).max() < 1e-6 * abs(u).max()
        try:
            grid.operator(lambda v: 1 / 0).matvec(mine.reshape(-1))
            raise AssertionError("an exception was lost")
        except ZeroDivisionError:
            pass
        try:
            spry.solve(grid.operator(lambda v: 1 // 0), mine.reshape(-1), method="cg", precon=None)
            raise AssertionError("an exception was lost")
        except ZeroDivisionError:
            pass

        def make():
            A = spry.Grid(16, ranks="none").stencil("laplace")
            return (spry.Stepper(A, method="implicit-euler", dt=0.05),
                    spry.Stepper(A, method="crank-nicolson", dt=0.005))

        start = spry.Grid(16, ranks="none").field(lambda x: np.sin(np.pi * x))
        result = spry.parareal(make, start, 0, 0.2, slices=4, tol=0)
        assert result.workers == size and result.slices == 4 and result.converged
        fine = start  # slice by slice, as the fine run goes
        for k in range(4):
            fine = make()[1].run(fine, 0.05 * k, 0.05 * (k + 1))[0]
        assert abs(result.x - fine).max() <= 1e-13


if __name__ == "__main__":
    try:
        main()
    except BaseException as error:  # the others must not wait for ever
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(1)
