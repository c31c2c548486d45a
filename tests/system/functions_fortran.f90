! SPDX-License-Identifier: Apache-2.0
! functions_fortran GO END: as functions.c, with a procedure of a module.
module flux
  implicit none
  double precision, volatile :: sink = 0
contains
  subroutine compute(n)
    integer, intent(in) :: n
    integer :: i

    do i = 1, n
      sink = sink + i * 0.5d0
    end do
  end subroutine compute
end module flux

subroutine outside(n)
  use flux
  implicit none
  integer, intent(in) :: n

  sink = sink - n
  call compute(n)
end subroutine outside

program functions_fortran
  use mpi
  use flux
  implicit none
  integer :: failed, i
  character(len=512) :: go, end_file

  call MPI_Init(failed)
  call get_command_argument(1, go)
  call get_command_argument(2, end_file)
  call wait_for(go)
  do i = 1, 700
    call compute(i)
  end do
  do i = 1, 300
    call outside(i)
  end do
  print '(a, f0.1)', 'compute 1000 outside 300 sum ', sink
  flush (6)
  call wait_for(end_file)
  call MPI_Finalize(failed)
contains
  subroutine wait_for(file)
    character(len=*), intent(in) :: file
    logical :: is_there

    do
      inquire (file=trim(file), exist=is_there)
      if (is_there) exit
      call sleep(1)
    end do
  end subroutine wait_for
end program functions_fortran
