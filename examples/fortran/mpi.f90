! A solve on the ranks of MPI, from a communicator as Fortran has it: each rank makes its own rows of a system, here those of
! the second difference on a line, and has its own elements of b and x. Rows and columns are counted from 0, as in C.
!
!     mpifort mpi.f90 spry.f90 -lspry_mpi -lspry && mpirun -n 4 ./a.out
program solve_on_ranks
    use mpi_f08
    use spry
    implicit none
    integer(c_int64_t), parameter :: n = 10000
    integer(c_int64_t) :: first, last, row, column, entries
    integer(c_int64_t), allocatable, target :: offsets(:), columns(:)
    real(c_double), allocatable, target :: values(:)
    type(c_ptr) :: context = c_null_ptr, A = c_null_ptr, b = c_null_ptr, x = c_null_ptr
    type(spry_c_result) :: result
    integer :: rank, ranks
    logical :: converged

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    ! With the module mpi in the place of mpi_f08 communicators are integers, and given as they are.
    call check(spry_mpi_context_new_f(MPI_COMM_WORLD%MPI_VAL, c_null_char, context))

    first = n*rank/ranks
    last = n*(rank + 1)/ranks - 1
    allocate (offsets(0:last - first + 1), columns(3*(last - first + 1)), values(3*(last - first + 1)))
    entries = 0
    do row = first, last
        offsets(row - first) = entries
        do column = max(row - 1, 0_c_int64_t), min(row + 1, n - 1)
            entries = entries + 1
            columns(entries) = column
            values(entries) = merge(2.001_c_double, -1.0_c_double, column == row)
        end do
    end do
    offsets(last - first + 1) = entries
    call check(spry_matrix_new_ranked(context, SPRY_TYPE_D, last - first + 1, -1_c_int64_t, c_loc(offsets), c_loc(columns), &
        c_loc(values), A))
    call check(spry_vector_ones(context, A, b))
    call check(spry_vector_zeros(context, A, x))

    result%size = c_sizeof(result)
    call check(spry_quick_solve(context, A, b, x, 'method=cg precon=ilu tol=1e-10'//c_null_char, result))
    converged = result%converged ! the same on all ranks
    if (rank == 0) print '(i0, a, i0, a, es8.1)', ranks, ' ranks: ', result%iterations, ' iterations, residual ', &
        result%true_residual

    call spry_result_clear(context, result)
    call spry_vector_free(b)
    call spry_vector_free(x)
    call spry_matrix_free(A)
    call spry_context_free(context) ! before MPI ends
    call MPI_Finalize()
    if (.not. converged) error stop 1

contains
    ! What fails on one rank has failed on all.
    subroutine check(status)
        integer(c_int), intent(in) :: status

        if (status == SPRY_STATUS_OK) return
        if (rank == 0) print '(a)', spry_text(spry_message(context))
        call MPI_Finalize()
        error stop 1
    end subroutine check
end program solve_on_ranks
