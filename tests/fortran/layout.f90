! The structs of the module have the sizes and offsets that C's have, and the constants their values.
program layout
    use, intrinsic :: iso_c_binding
    implicit none
    interface
        function layout_c(index) bind(c)
            import
            integer(c_int), value :: index
            integer(c_int64_t) :: layout_c
        end function layout_c
        function layout_name(index) bind(c)
            import
            integer(c_int), value :: index
            type(c_ptr) :: layout_name
        end function layout_name
        subroutine layout_f(row)
            interface
                subroutine row(value)
                    use, intrinsic :: iso_c_binding
                    integer(c_int64_t), intent(in) :: value
                end subroutine row
            end interface
        end subroutine layout_f
    end interface
    integer(c_int) :: count = 0, wrong = 0

    call layout_f(compare)
    if (c_associated(layout_name(count))) wrong = wrong + 1
    print '(i0, a, i0, a)', count, ' sizes, offsets and constants, ', wrong, ' wrong'
    if (wrong > 0 .or. count < 280) error stop 1

contains
    subroutine compare(value)
        integer(c_int64_t), intent(in) :: value

        if (.not. c_associated(layout_name(count))) error stop 2
        if (value /= layout_c(count)) then
            print '(a, i0, a, i0, a, i0)', 'row ', count, ': ', value, ' in Fortran, ', layout_c(count), ' in C'
            wrong = wrong + 1
        end if
        count = count + 1
    end subroutine compare
end program layout
