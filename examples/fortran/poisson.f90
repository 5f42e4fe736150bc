! Heat that spreads over a square plate, one step of implicit Euler: the system of docs/tutorial.md, from CSR arrays that count
! from 1. Far from the edge u is what it was, 1.
program poisson
    use spry
    implicit none
    integer, parameter :: side = 200, n = side*side, dp = c_double
    real(dp), parameter :: k = 10
    integer :: offsets(n + 1), columns(5*n), i, j, row, entries
    real(dp) :: values(5*n), b(n), x(n)
    type(spry_result) :: result

    entries = 0
    offsets(1) = 1
    do i = 1, side
        do j = 1, side
            row = (i - 1)*side + j
            if (i > 1) call add(row - side, -k)
            if (j > 1) call add(row - 1, -k)
            call add(row, 1 + 4*k)
            if (j < side) call add(row + 1, -k)
            if (i < side) call add(row + side, -k)
            offsets(row + 1) = entries + 1
        end do
    end do
    b = 1
    x = 0
    call spry_solve(offsets, columns, values, b, x, 'tol=1e-10 method=cg precon=ic', result)
    print '(3a, i0, a, es8.1)', 'fortran: ', result%reason_name(), ' after ', result%iterations, &
        ' iterations, true residual ', result%true_residual
    ! |x - u| <= |A^-1| |b - A x|, where A's smallest eigenvalue is above 1 and |b| = side
    if (.not. result%converged .or. abs(x(n/2 + side/2) - 1) > side*1e-10_dp) error stop 1

contains
    subroutine add(column, value)
        integer, intent(in) :: column
        real(dp), intent(in) :: value

        entries = entries + 1
        columns(entries) = column
        values(entries) = value
    end subroutine add
end program poisson
