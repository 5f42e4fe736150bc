! The Fortran layer: arrays of every kind, both bases, errors, sharing, monitors, operators. With the argument "unheard" it
! makes a mistake that nothing asks about, which has to end it.
module checks
    use spry
    implicit none
    integer, parameter :: sp = c_float, dp = c_double, i4 = c_int32_t, i8 = c_int64_t, n = 60
    integer :: failures = 0, heard = 0
    real(dp) :: seen = 0
    type(spry_solver), target :: kept ! and freed by its monitor, where that is asked for
    logical :: frees = .false.
contains
    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what

        if (.not. holds) then
            print '(2a)', 'wrong: ', what
            failures = failures + 1
        end if
    end subroutine check

    ! tridiagonal: 3 on the diagonal, -1 - s below, -1 + s above; its eigenvalues are above 1, and |A| is below 5
    subroutine tridiagonal(base, skew, offsets, columns, values)
        integer, intent(in) :: base
        real(dp), intent(in) :: skew
        integer(i8), allocatable, intent(out) :: offsets(:), columns(:)
        real(dp), allocatable, intent(out) :: values(:)
        integer :: i, j, k

        allocate (offsets(n + 1), columns(3*n - 2), values(3*n - 2))
        offsets(1) = base
        k = 0
        do i = 1, n
            do j = max(i - 1, 1), min(i + 1, n)
                k = k + 1
                columns(k) = j - 1 + base
                values(k) = merge(3._dp, -1._dp + (j - i)*skew, i == j)
            end do
            offsets(i + 1) = k + base
        end do
    end subroutine tridiagonal

    function times(values, x) result(y)
        real(dp), intent(in) :: values(:)
        complex(dp), intent(in) :: x(:)
        complex(dp) :: y(n)
        integer :: i, j, k

        y = 0
        k = 0
        do i = 1, n
            do j = max(i - 1, 1), min(i + 1, n)
                k = k + 1
                y(i) = y(i) + values(k)*x(j)
            end do
        end do
    end function times

    ! |x - u| <= |A^-1| |r| <= tol |b|, with |A^-1| <= 1 and |b| <= 5 |u|; the 2-norm bounds every element.
    subroutine kinds(base)
        integer, intent(in) :: base
        integer(i8), allocatable :: offsets(:), columns(:)
        real(dp), allocatable :: values(:)
        complex(dp) :: u(n), b(n)
        real(sp) :: xs(n)
        real(dp) :: xd(n), near
        complex(sp) :: xc(n)
        complex(dp) :: xz(n)
        character(*), parameter :: fine = 'tol=1e-10', rough = 'tol=1e-4'
        integer :: i

        call tridiagonal(base, 0.2_dp, offsets, columns, values)
        u = [(cmplx(1, 0.1_dp*i, dp), i=1, n)]
        b = times(values, u)
        near = 5*sqrt(sum(abs(u)**2))
        xs = 0
        call spry_solve(int(offsets, i4), int(columns, i4), real(values, sp), real(b, sp), xs, rough)
        call check(maxval(abs(xs - real(u))) <= 2e-4_dp*near, 's, 32 bits')
        xs = 0
        call spry_solve(offsets, columns, real(values, sp), real(b, sp), xs, rough)
        call check(maxval(abs(xs - real(u))) <= 2e-4_dp*near, 's, 64 bits')
        xd = 0
        call spry_solve(int(offsets, i4), int(columns, i4), values, real(b, dp), xd, fine)
        call check(maxval(abs(xd - real(u, dp))) <= 1e-10_dp*near, 'd, 32 bits')
        xd = 0
        call spry_solve(offsets, int(columns, i4), values, real(b, dp), xd, fine)
        call check(maxval(abs(xd - real(u, dp))) <= 1e-10_dp*near, 'd, 64 and 32 bits')
        xd = 0
        call spry_solve(offsets, columns, values, real(b, dp), xd, fine)
        call check(maxval(abs(xd - real(u, dp))) <= 1e-10_dp*near, 'd, 64 bits')
        xc = 0
        call spry_solve(offsets, int(columns, i4), cmplx(values, 0, sp), cmplx(b, kind=sp), xc, rough)
        call check(maxval(abs(xc - u)) <= 2e-4_dp*near, 'c, 64 and 32 bits')
        xz = 0
        call spry_solve(int(offsets, i4), int(columns, i4), cmplx(values, 0, dp), b, xz, fine)
        call check(maxval(abs(xz - u)) <= 1e-10_dp*near, 'z, 32 bits')
    end subroutine kinds

    ! COO, CSC and CSR of one matrix give the same x; CSC of A is CSR of A^T.
    subroutine formats()
        integer(i8), allocatable :: offsets(:), columns(:)
        real(dp), allocatable :: values(:)
        integer(i4) :: row(3*n - 2)
        real(dp) :: b(n), x(n), y(n), z(n)
        type(spry_matrix) :: A, B_, C
        type(spry_operator) :: op
        integer :: i

        call tridiagonal(1, 0.3_dp, offsets, columns, values)
        do i = 1, n
            row(offsets(i):offsets(i + 1) - 1) = i
        end do
        b = [(sin(1._dp*i), i=1, n)]
        call A%from_csr(offsets, columns, values)
        call B_%from_coo(n, n, row, int(columns, i4), values)
        call C%from_csc(offsets, columns, values)
        call check(all([A%rows(), A%cols(), A%nnz()] == [n, n, 3*n - 2]), 'sizes')
        call op%from_matrix(A)
        call op%apply(b, x)
        call op%from_matrix(B_, 'sell:C=4')
        call op%apply(b, y)
        call check(maxval(abs(x - y)) <= 1e-14_dp, 'products of CSR and COO')
        call op%apply(b, y, SPRY_TRANSPOSE_YES)
        call op%from_matrix(C)
        call op%apply(b, z)
        call check(maxval(abs(y - z)) <= 1e-14_dp, 'products of the transpose and CSC')
        call A%set_values(2*values)
        call op%from_matrix(A)
        call op%apply(b, y)
        call check(maxval(abs(y - 2*x)) <= 1e-14_dp, 'new values')
        call A%generate('poisson2d', 'size=10')
        call check(A%rows() == 100, 'generate')
    end subroutine formats

    subroutine errors()
        integer(i4) :: offsets(3), columns(2)
        real(dp) :: values(2), b(2), x(2)
        real(sp) :: xs(2)
        type(spry_matrix) :: A, nothing
        type(spry_solver) :: solver
        type(spry_result) :: result
        integer :: status
        character(spry_message_size) :: message

        offsets = [1, 2, 3]
        columns = [1, 2]
        values = 1
        b = 1
        x = 0
        call spry_solve(offsets, columns, values, b, x, 'nosuch=1', result, status, message)
        call check(status == SPRY_STATUS_BAD_USAGE .and. index(message, 'nosuch') > 0, 'an unknown option: ' // trim(message))
        call check(.not. result%converged .and. result%reason == SPRY_REASON_FAILED, 'the result of a failure')
        call spry_solve(offsets, columns + 1, values, b, x, status=status, message=message)
        call check(status == SPRY_STATUS_BAD_INPUT .and. message /= '', 'a column out of range: ' // trim(message))
        call spry_solve(offsets + 1, columns, values, b, x, status=status, message=message)
        call check(status == SPRY_STATUS_BAD_INPUT .and. index(message, 'offset') > 0, 'offsets from 2')
        call spry_solve(offsets(3:1:-1), columns, values, b, x, status=status)
        call check(status == SPRY_STATUS_BAD_INPUT, 'offsets that fall')
        call spry_solve(offsets, columns(:1), values, b, x, status=status)
        call check(status == SPRY_STATUS_BAD_INPUT, 'columns that are not there')
        call spry_solve(offsets(:0), columns, values, b, x, status=status)
        call check(status == SPRY_STATUS_BAD_INPUT, 'no offsets')
        call spry_solve(offsets, columns, values, [b, b], x, status=status, message=message)
        call check(status /= SPRY_STATUS_OK .and. message /= '', 'b is too long')
        call A%from_coo(2, 2, [1, 2], [1], values, status=status)
        call check(status == SPRY_STATUS_BAD_INPUT .and. .not. A%is_set(), 'arrays of different lengths')
        call A%read('/nosuch/file.mtx', status=status, message=message)
        call check(status == SPRY_STATUS_IO .and. index(message, 'file.mtx') > 0, 'a file that is not there')
        call solver%init(nothing, status=status)
        call check(status /= SPRY_STATUS_OK, 'a solver of nothing')
        call solver%solve(b, x, status=status)
        call check(status /= SPRY_STATUS_OK, 'a solve with no solver')
        call A%from_csr(offsets, columns, values)
        call A%set_values(values(:1), status=status)
        call check(status == SPRY_STATUS_BAD_INPUT, 'too few values')
        call A%set_values(real([1, 2]), status=status)
        call check(status == SPRY_STATUS_BAD_USAGE, 'values of another type')
        xs = 0
        call spry_solve(A, real(b), xs, status=status)
        call check(status /= SPRY_STATUS_OK, 'b of another type')
    end subroutine errors

    ! Variables share objects, and what a solver needs lives as long as it does.
    subroutine sharing()
        type(spry_solver) :: solver, other
        type(spry_result) :: result
        real(dp) :: b(400), x(400), tol
        integer(i8) :: limit
        logical :: yes
        character(:), allocatable :: text
        integer :: status

        call make(solver)
        other = solver
        call solver%free()
        call check(.not. solver%is_set() .and. other%is_set(), 'shared')
        other = other
        b = 1
        x = 0
        call other%set('tol', 1e-9_dp)
        call other%set('max-iter', 300)
        call other%get('tol', tol)
        call other%get('max-iter', limit)
        call other%get('method', text)
        call check(abs(tol - 1e-9_dp) <= 0 .and. limit == 300 .and. text == 'cg', 'options come back')
        yes = .true.
        call other%get('tol', yes, status=status)
        call check(status == SPRY_STATUS_BAD_USAGE, 'tol is no logical')
        call other%solve(b, x, result)
        call check(result%converged .and. result%method == 'cg' .and. len(result%precon) > 0, 'a solve with what went out of scope')
        call check(size(result%history) >= 2 .and. result%rows == 400, 'the history')
    end subroutine sharing

    subroutine make(solver)
        type(spry_solver), intent(inout) :: solver
        type(spry_context) :: context
        type(spry_matrix) :: A
        type(spry_operator) :: M

        call context%init('threads=1')
        call check(context%threads() == 1, 'threads')
        call A%generate('poisson2d', 'size=20', context=context)
        call A%set_fact(SPRY_FACT_DEFINITE, .true.)
        call M%precon(A, 'ic')
        call solver%init(A, 'method=cg')
        call solver%set_precon(M)
    end subroutine make

    function count_to_three(now) result(go_on)
        type(spry_iteration), intent(in) :: now
        logical :: go_on
        real(dp), pointer :: x(:)
        real(sp), pointer :: wrong(:)

        heard = heard + 1
        call now%look(x)
        call now%look(wrong)
        if (.not. associated(x) .or. associated(wrong)) error stop 3
        seen = sum(x)
        if (frees) call kept%free()
        go_on = now%number < 3
    end function count_to_three

    subroutine monitors()
        type(spry_matrix) :: A
        type(spry_result) :: result, results(2)
        real(dp) :: b(400), x(400), b2(400, 2), x2(400, 2)

        b = 1
        x = 0
        call A%generate('poisson2d', 'size=20')
        call spry_solve(A, b, x, 'method=cg precon=none keep=last', result, monitor=count_to_three)
        call check(heard == 3 .and. result%reason == SPRY_REASON_STOPPED .and. result%iterations == 3, 'stopped by a monitor')
        call check(result%reason_name() == 'interrupted' .and. abs(seen - sum(x)) <= 1e-12_dp*abs(seen), 'x in a monitor')
        call kept%init(A, 'method=cg precon=none')
        call kept%set_monitor(count_to_three)
        frees = .true.
        x = 0
        call kept%solve(b, x, result)
        frees = .false.
        call check(result%iterations == 3 .and. .not. kept%is_set(), 'a solver that its monitor frees')
        ! An internal procedure sees what is around it.
        heard = 0
        call spry_solve(A, b, x, 'method=cg precon=none', result, monitor=inner)
        call check(result%converged .and. heard == result%iterations, 'an internal procedure')
        ! One that takes the second of two as it is.
        b2(:, 1) = b
        b2(:, 2) = 2*b
        x2 = 0
        call spry_solve(A, b2, x2, 'method=cg precon=none', results, monitor=taking)
        call check(results(1)%converged .and. results(2)%reason == SPRY_REASON_ACCEPTED, 'accepted')
        call check(results(2)%iterations == 2 .and. results(1)%tolerance > 0, 'accepted at once')
    contains
        function taking(now) result(go_on)
            type(spry_iteration), intent(in) :: now
            logical :: go_on

            if (now%system == 2 .and. now%number == 2) call now%accept()
            go_on = .true.
        end function taking

        function inner(now) result(go_on)
            type(spry_iteration), intent(in) :: now
            logical :: go_on

            heard = heard + 1
            go_on = now%residual >= 0
        end function inner
    end subroutine monitors

    subroutine half(transpose, x, y, status)
        integer, intent(in) :: transpose
        complex(dp), intent(in) :: x(:)
        complex(dp), intent(out) :: y(:)
        integer, intent(inout) :: status

        y = cmplx(0, 0.5_dp, dp)*x
        if (transpose == SPRY_TRANSPOSE_CONJUGATE) y = -y
        if (real(x(1)) > 1e6_dp) status = SPRY_STATUS_BAD_INPUT
    end subroutine half

    subroutine operators()
        type(spry_operator) :: A
        type(spry_solver) :: solver
        complex(dp) :: b(n, 3), x(n, 3), y(n)
        type(spry_result) :: results(3)
        integer :: status

        call A%from_z(n, n, half, has_transpose=.true.)
        b(:, 1) = 1
        b(:, 2) = cmplx(0, 2, dp)
        b(:, 3) = cmplx(1, 1, dp)
        x = 0
        call solver%init(A, 'method=gmres tol=1e-12')
        call solver%solve(b, x, results)
        ! A is unitary up to 1/2: |x - u| = 2 |r| <= 2 tol |b|, |b| <= 2 sqrt(n)
        call check(all(results%converged) .and. maxval(abs(x - b*cmplx(0, -2, dp))) <= 4e-12_dp*sqrt(real(n, dp)), 'three columns')
        call A%apply(b(:, 1), y, SPRY_TRANSPOSE_CONJUGATE)
        call check(all(abs(y - cmplx(0, -0.5_dp, dp)*b(:, 1)) <= 0), 'the conjugate transpose')
        b(1, 1) = 1e7_dp
        call A%apply(b(:, 1), y, status=status)
        call check(status == SPRY_STATUS_BAD_INPUT, 'a procedure that fails')
        call solver%solve(b, x(:, :2), results, status=status)
        call check(status == SPRY_STATUS_BAD_USAGE, 'columns that do not match')
    end subroutine operators
end module checks

program solve
    use checks
    implicit none
    character(16) :: argument
    real(dp) :: unheard(1) = 0

    call get_command_argument(1, argument)
    if (argument == 'unheard') call spry_solve([1, 2], [1], [1d0], [1d0], unheard, 'nosuch=1')
    call kinds(0)
    call kinds(1)
    call formats()
    call errors()
    call sharing()
    call monitors()
    call operators()
    call check(spry_text(spry_version()) /= '', 'the version')
    call check(spry_text(c_null_ptr) == '', 'no text')
    print '(i0, a)', failures, ' failures'
    if (failures > 0) error stop 1
end program solve
