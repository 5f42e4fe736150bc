! The two systems of README.md in Fortran: problem FOLDER NAME
program problem
    use spry
    implicit none
    integer, parameter :: side = 24, n = side*side, dp = c_double
    integer :: offsets(n + 1), columns(5*n), entries, report
    complex(dp) :: values(5*n), b(n), x(n)
    real(dp) :: real_b(n), real_x(n)
    character(1024) :: folder, name
    type(spry_result) :: result

    call get_command_argument(1, folder)
    call get_command_argument(2, name)
    open (newunit=report, file=trim(folder)//'/'//trim(name)//'.txt', action='write', status='replace')

    call fill(cmplx(4, 0, dp), cmplx(-1.375_dp, 0, dp), cmplx(-0.625_dp, 0, dp))
    real_b = real(b, dp)
    real_x = 0
    call spry_solve(offsets, columns, real(values, dp), real_b, real_x, 'method=bicgstab precon=ilu format=csr tol=1e-10', result)
    call write_result('real', cmplx(real_x, 0, dp))

    call fill(cmplx(3.5_dp, 0.625_dp, dp), cmplx(-1, 0, dp), cmplx(-1, 0, dp))
    x = 0
    call spry_solve(offsets, columns, values, b, x, 'method=gmres:restart=20 precon=jacobi format=csr tol=1e-10', result)
    call write_result('complex', x)
    close (report)

contains
    subroutine add(column, value)
        integer, intent(in) :: column
        complex(dp), intent(in) :: value

        entries = entries + 1
        columns(entries) = column
        values(entries) = value
    end subroutine add

    subroutine fill(diagonal, before, after)
        complex(dp), intent(in) :: diagonal, before, after
        integer :: i, j, row

        entries = 0
        offsets(1) = 1
        do row = 1, n
            i = (row - 1)/side
            j = mod(row - 1, side)
            if (i > 0) call add(row - side, cmplx(-1, 0, dp))
            if (j > 0) call add(row - 1, before)
            call add(row, diagonal)
            if (j < side - 1) call add(row + 1, after)
            if (i < side - 1) call add(row + side, cmplx(-1, 0, dp))
            offsets(row + 1) = entries + 1
            b(row) = 1 + mod(row - 1, 7)/8._dp
        end do
    end subroutine fill

    subroutine write_result(kind, answer)
        character(*), intent(in) :: kind
        complex(dp), intent(in) :: answer(:)
        integer :: file

        write (report, '(a, 1x, a, 1x, i0)') kind, result%reason_name(), result%iterations
        open (newunit=file, file=trim(folder)//'/'//trim(name)//'-'//kind//'.x', action='write', status='replace', &
              access='stream', form='unformatted')
        if (kind == 'real') then
            write (file) real(answer, dp)
        else
            write (file) answer
        end if
        close (file)
    end subroutine write_result
end program problem
