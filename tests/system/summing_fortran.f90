! SPDX-License-Identifier: Apache-2.0
! summing_fortran END: as summing.c, by the modules mpi and mpi_f08. Each result is checked until the
! file END exists; then rank 0 prints how many were wrong.
module ring
  use mpi_f08
  implicit none
contains
  subroutine pass(i, rank, ranks, wrong)
    integer, intent(in) :: i, rank, ranks
    integer, intent(inout) :: wrong
    integer :: from, in, sum
    type(MPI_Request) :: r(2)

    from = mod(rank + ranks - 1, ranks)
    call MPI_Irecv(in, 1, MPI_INTEGER, from, 3, MPI_COMM_WORLD, r(1))
    call MPI_Isend(i * 7 + rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 3, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call MPI_Allreduce(in, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (in /= i * 7 + from) wrong = wrong + 1
    if (sum /= i * 7 * ranks + ranks * (ranks - 1) / 2) wrong = wrong + 1
  end subroutine pass
end module ring

program summing_fortran
  use mpi
  use ring, only: pass
  implicit none
  integer :: failed, rank, ranks, i, from, in, total, wrong
  integer :: status(MPI_STATUS_SIZE)
  logical :: is_there
  character(len=512) :: end_file

  call get_command_argument(1, end_file)
  call MPI_Init(failed)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, failed)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, failed)
  wrong = 0
  i = 0
  from = mod(rank + ranks - 1, ranks)
  do
    i = mod(i + 1, 100000)
    call pass(i, rank, ranks, wrong)
    call MPI_Sendrecv(i + rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 4, in, 1, MPI_INTEGER, &
                      from, 4, MPI_COMM_WORLD, status, failed)
    if (in /= i + from .or. status(MPI_SOURCE) /= from) wrong = wrong + 1
    inquire (file=end_file, exist=is_there)
    call MPI_Bcast(is_there, 1, MPI_LOGICAL, 0, MPI_COMM_WORLD, failed)
    if (is_there) exit
  end do
  call MPI_Reduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, failed)
  if (rank == 0) print '(i0, a)', total, ' wrong'
  call MPI_Finalize(failed)
end program summing_fortran
