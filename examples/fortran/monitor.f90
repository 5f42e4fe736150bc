! A matrix that is never stored, and a monitor that looks at x: -u'' = 1 on (0, 1) with u = 0 at both ends, whose solution
! u = s (1 - s) / 2 the second difference has exactly.
module line
    use spry
    implicit none
    integer, parameter :: n = 199, dp = c_double
    real(dp), parameter :: h = 1/real(n + 1, dp)
contains
    subroutine second_difference(transpose, x, y, status)
        integer, intent(in) :: transpose
        real(dp), intent(in) :: x(:)
        real(dp), intent(out) :: y(:)
        integer, intent(inout) :: status

        ! (Symmetric: the transpose is the same.)
        if (transpose < 0 .or. size(x) /= n) status = SPRY_STATUS_BAD_USAGE
        y = 2*x
        y(2:) = y(2:) - x(:n - 1)
        y(:n - 1) = y(:n - 1) - x(2:)
        y = y/h**2
    end subroutine second_difference

    function show(now) result(go_on)
        type(spry_iteration), intent(in) :: now
        logical :: go_on
        real(dp), pointer :: x(:)

        call now%look(x)
        if (mod(now%number, 50_c_int64_t) == 0) &
            print '(i4, es10.2, a, f8.5)', now%number, now%residual, '  u in the middle', x((n + 1)/2)
        go_on = .true.
    end function show
end module line

program monitor
    use line
    implicit none
    type(spry_operator) :: A
    type(spry_solver) :: solver
    type(spry_result) :: result
    real(dp) :: b(n), x(n), s(n)
    integer :: i

    b = 1
    x = 0
    s = [(i*h, i=1, n)]
    call A%from_d(n, n, second_difference, has_transpose=.true.)
    call solver%init(A, 'method=cg tol=1e-12')
    call solver%set_monitor(show)
    call solver%solve(b, x, result)
    print '(2a, i0, a, es8.1)', result%reason_name(), ' after ', result%iterations, ' iterations, largest error ', &
        maxval(abs(x - s*(1 - s)/2))
    if (maxval(abs(x - s*(1 - s)/2)) > 1e-10_dp) error stop 1
    call solver%free() ! (variables of a main program are not finalized)
    call A%free()
end program monitor
