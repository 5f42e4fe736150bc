! A complex system, kept and solved again: waves on a line with damping, -u'' - (w^2 + i w g) u = f, for several right-hand
! sides at once, then with other values at the same places.
program complex_system
    use spry
    implicit none
    integer, parameter :: n = 300, dp = c_double
    real(dp), parameter :: h = 1/real(n + 1, dp)
    integer(c_int32_t) :: row(3*n), column(3*n)
    complex(dp) :: values(3*n), b(n, 2), x(n, 2)
    type(spry_matrix) :: A
    type(spry_solver) :: solver
    type(spry_result) :: results(2)
    integer :: i, entries

    call assemble(5._dp)
    call A%from_coo(n, n, row(:entries), column(:entries), values(:entries))
    call solver%init(A, 'tol=1e-10')
    call solver%set('method', 'gmres')
    call solver%set('precon', 'ilu')
    b(:, 1) = 1
    b(:, 2) = [(exp(cmplx(0, 20*i*h, dp)), i=1, n)]
    call solve('first')
    call assemble(8._dp)
    call A%set_values(values(:entries))
    call solve('with new values')
    call solver%free()
    call A%free()

contains
    subroutine assemble(w)
        real(dp), intent(in) :: w
        integer :: k

        entries = 0
        do k = 1, n
            if (k > 1) call add(k, k - 1, cmplx(-1, 0, dp))
            call add(k, k, cmplx(2, 0, dp) - h**2*cmplx(w**2, 2*w, dp))
            if (k < n) call add(k, k + 1, cmplx(-1, 0, dp))
        end do
    end subroutine assemble

    subroutine add(i, j, value)
        integer, intent(in) :: i, j
        complex(dp), intent(in) :: value

        entries = entries + 1
        row(entries) = i
        column(entries) = j
        values(entries) = value
    end subroutine add

    subroutine solve(what)
        character(*), intent(in) :: what
        integer :: k

        x = 0
        call solver%solve(b, x, results)
        do k = 1, 2
            print '(2a, i0, 3a, i0, a, es8.1)', what, ', column ', k, ': ', results(k)%reason_name(), ' after ', &
                results(k)%iterations, ' iterations, true residual ', results(k)%true_residual
        end do
        if (.not. all(results%converged)) error stop 1
    end subroutine solve
end program complex_system
