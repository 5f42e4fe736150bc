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
    try:
        spry.Ranks("world")
        raise AssertionError("a text was taken for a communicator")
    except spry.UsageError:
        pass
    if rank == 0:
        print(f"{size} ranks: all passed")


if __name__ == "__main__":
    try:
        main()
    except BaseException as error:  # the others must not wait for ever
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(1)
