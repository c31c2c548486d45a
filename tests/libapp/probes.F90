! SPDX-License-Identifier: Apache-2.0
! Probes out of Fortran: without an interface (by address), and with that of the module (by value).
program main
  use mpi
#ifdef USE_MODULE
  use loops_module
  use, intrinsic :: iso_c_binding
#endif
  implicit none
#ifndef USE_MODULE
  external :: iteration_end, loop_start
#endif
  integer :: ierr, i, unit
  character(len=1024) :: file
  logical :: over
  call MPI_Init(ierr)
  call get_command_argument(1, file)
  do i = 1, 2000000
     call loop_start(i)
     call iteration_end(i, 1d0 / i)
     call MPI_Barrier(MPI_COMM_WORLD, ierr)
     call sleep_a_moment()
     inquire(file=trim(file), exist=over)
     call MPI_Bcast(over, 1, MPI_LOGICAL, 0, MPI_COMM_WORLD, ierr)
     if (over) exit
  end do
  call MPI_Finalize(ierr)
contains
  subroutine sleep_a_moment()
    real :: x
    integer :: k
    x = 0
    do k = 1, 100000
       x = x + sin(real(k))
    end do
    if (x > 1e30) print *, x
  end subroutine
end program
