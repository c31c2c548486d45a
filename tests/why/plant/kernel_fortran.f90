! SPDX-License-Identifier: Apache-2.0
! plant: the call of the kernel `fortran`, by MPI's interface for Fortran.
subroutine plant_fortran_allreduce(value) bind(C)
  use, intrinsic :: iso_c_binding, only: c_double
  use mpi
  implicit none
  real(c_double), intent(inout) :: value
  real(c_double) :: total
  integer :: error

  call MPI_Allreduce(value, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  value = total
end subroutine
