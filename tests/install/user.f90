! The same from Fortran: 2.5 on the diagonal, -1 next to it, x of ones.
program user
    use spry
    implicit none
    integer, parameter :: n = 100
    integer :: offsets(n + 1), columns(3*n), i, j, k
    real(c_double) :: values(3*n), b(n), x(n)
    type(spry_result) :: result

    k = 0
    offsets(1) = 1
    do i = 1, n
        do j = max(i - 1, 1), min(i + 1, n)
            k = k + 1
            columns(k) = j
            values(k) = merge(2.5_c_double, -1._c_double, i == j)
        end do
        offsets(i + 1) = k + 1
        b(i) = merge(1.5_c_double, 0.5_c_double, i == 1 .or. i == n)
    end do
    x = 0
    call spry_solve(offsets, columns, values, b, x, 'tol=1e-12', result)
    print '(5a, i0, a)', 'spry ', spry_text(spry_version()), ' from Fortran: ', result%reason_name(), ' after ', &
        result%iterations, ' iterations'
    if (.not. result%converged .or. maxval(abs(x - 1)) > 2e-11_c_double) error stop 1
end program user
