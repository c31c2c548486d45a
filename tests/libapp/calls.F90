! SPDX-License-Identifier: Apache-2.0
! What calls.c does, in Fortran: mpif.h (-DUSE_H), use mpi, or use mpi_f08 (-DUSE_F08).
! Keeps its own books and writes them to FILE.<rank>.
#ifdef USE_F08
#define STATUS type(MPI_Status)
#define STATUS_SIZE
#define REQUEST type(MPI_Request)
#define COMM type(MPI_Comm)
#define TYPE_H type(MPI_Datatype)
#define FILE_H type(MPI_File)
#define WIN type(MPI_Win)
#else
#define STATUS integer
#define REQUEST integer
#define COMM integer
#define TYPE_H integer
#define FILE_H integer
#define WIN integer
#endif
module books
   implicit none
   integer, parameter :: n_max = 64
   character(len=32) :: name(n_max)
   integer(8) :: calls(n_max) = 0, bytes_out(n_max) = 0, bytes_in(n_max) = 0
   integer :: n = 0
contains
   integer function at(what)
      character(len=*), intent(in) :: what
      integer :: i
      do i = 1, n
         if (name(i) == what) then
            at = i
            return
         end if
      end do
      n = n + 1
      name(n) = what
      at = n
   end function
   subroutine note(what, o, i)
      character(len=*), intent(in) :: what
      integer, intent(in) :: o, i
      integer :: k
      k = at(what)
      calls(k) = calls(k) + 1
      bytes_out(k) = bytes_out(k) + o
      bytes_in(k) = bytes_in(k) + i
   end subroutine
   subroutine late(what, i)
      character(len=*), intent(in) :: what
      integer, intent(in) :: i
      integer :: k
      k = at(what)
      bytes_in(k) = bytes_in(k) + i
   end subroutine
   subroutine later(what, o)
      character(len=*), intent(in) :: what
      integer, intent(in) :: o
      integer :: k
      k = at(what)
      bytes_out(k) = bytes_out(k) + o
   end subroutine
   subroutine put_books(base, rank)
      character(len=*), intent(in) :: base
      integer, intent(in) :: rank
      character(len=12) :: r
      integer :: k
      write (r, '(i0)') rank
      open (10, file=trim(base)//'.'//trim(r), status='replace')
      do k = 1, n
         write (10, '(a,i0,1x,a,a,i0,a,i0,a,i0)') 'call ', rank, trim(name(k)), ' count ', calls(k), &
            ' out ', bytes_out(k), ' in ', bytes_in(k)
      end do
      close (10)
   end subroutine
end module

program calls_f
   use books
#if defined(USE_F08)
   use mpi_f08
#elif !defined(USE_H)
   use mpi
#endif
   implicit none
#ifdef USE_H
   include 'mpif.h'
#endif
   integer :: e, rank, size, left, right, k, index, got, flag_n
   integer :: a(1000), b(1000), done(4), counts(16), displs(16)
   logical :: flag
   character(len=4000) :: base
   REQUEST :: r(4)
   COMM :: w, c
   FILE_H :: f
   WIN :: win
   integer(kind=MPI_ADDRESS_KIND) :: disp, bytes
   integer(kind=MPI_OFFSET_KIND) :: offset
#ifdef HAS_MPI_4
   integer(kind=MPI_COUNT_KIND) :: count
#endif
#ifdef USE_F08
   STATUS :: st
#else
   STATUS :: st(MPI_STATUS_SIZE)
#endif

   call get_command_argument(1, base)
   call MPI_Init(e)
   w = MPI_COMM_WORLD
   call MPI_Comm_rank(w, rank, e)
   call MPI_Comm_size(w, size, e)
   left = mod(rank + size - 1, size)
   right = mod(rank + 1, size)
   a = 1

   if (mod(rank, 2) == 0) then
      call MPI_Send(a, 5, MPI_INTEGER, right, 1, w, e);  call note('MPI_Send', 20, 0)
      call MPI_Ssend(a, 7, MPI_INTEGER, right, 1, w, e);  call note('MPI_Ssend', 28, 0)
   else
      call MPI_Recv(b, 100, MPI_INTEGER, MPI_ANY_SOURCE, 1, w, MPI_STATUS_IGNORE, e);  call note('MPI_Recv', 0, 20)
      call MPI_Recv(b, 100, MPI_INTEGER, left, 1, w, st, e);  call note('MPI_Recv', 0, 28)
#ifdef USE_F08
      if (st%MPI_SOURCE /= left) call MPI_Abort(w, 3, e)
#else
      if (st(MPI_SOURCE) /= left) call MPI_Abort(w, 3, e)
#endif
   end if
   call MPI_Sendrecv(a, 9, MPI_INTEGER, right, 2, b, 50, MPI_INTEGER, left, 2, w, MPI_STATUS_IGNORE, e)
   call note('MPI_Sendrecv', 36, 36)
   call MPI_Irecv(b, 100, MPI_INTEGER, left, 3, w, r(1), e);  call note('MPI_Irecv', 0, 0)
   call MPI_Irecv(b(101), 100, MPI_INTEGER, MPI_ANY_SOURCE, 4, w, r(2), e);  call note('MPI_Irecv', 0, 0)
   call MPI_Isend(a, 11, MPI_INTEGER, right, 3, w, r(3), e);  call note('MPI_Isend', 44, 0)
   call MPI_Isend(a, 13, MPI_INTEGER, right, 4, w, r(4), e);  call note('MPI_Isend', 52, 0)
   call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, e);  call note('MPI_Waitall', 0, 0)
   call late('MPI_Irecv', 96)
   call MPI_Irecv(b, 100, MPI_INTEGER, left, 6, w, r(1), e);  call note('MPI_Irecv', 0, 0)
   call MPI_Isend(a, 4, MPI_INTEGER, right, 6, w, r(2), e);  call note('MPI_Isend', 16, 0)
   do k = 1, 2
      call MPI_Waitany(2, r, index, MPI_STATUS_IGNORE, e);  call note('MPI_Waitany', 0, 0)
   end do
   call late('MPI_Irecv', 16)
   call MPI_Irecv(b, 100, MPI_INTEGER, left, 7, w, r(1), e);  call note('MPI_Irecv', 0, 0)
   call MPI_Isend(a, 6, MPI_INTEGER, right, 7, w, r(2), e);  call note('MPI_Isend', 24, 0)
   got = 0
   do while (got < 2)
      call MPI_Waitsome(2, r, flag_n, done, MPI_STATUSES_IGNORE, e);  call note('MPI_Waitsome', 0, 0)
      got = got + flag_n
   end do
   call late('MPI_Irecv', 24)
   call MPI_Irecv(b, 100, MPI_INTEGER, left, 8, w, r(1), e);  call note('MPI_Irecv', 0, 0)
   call MPI_Isend(a, 3, MPI_INTEGER, right, 8, w, r(2), e);  call note('MPI_Isend', 12, 0)
   flag = .false.
   do while (.not. flag)
      call MPI_Test(r(1), flag, MPI_STATUS_IGNORE, e);  call note('MPI_Test', 0, 0)
   end do
   call late('MPI_Irecv', 12)
   call MPI_Wait(r(2), MPI_STATUS_IGNORE, e);  call note('MPI_Wait', 0, 0)

   call MPI_Recv_init(b, 100, MPI_INTEGER, left, 9, w, r(1), e);  call note('MPI_Recv_init', 0, 0)
   call MPI_Send_init(a, 10, MPI_INTEGER, right, 9, w, r(2), e);  call note('MPI_Send_init', 0, 0)
   do k = 1, 2
      call MPI_Startall(2, r, e);  call note('MPI_Startall', 0, 0)
      call later('MPI_Send_init', 40)
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, e);  call note('MPI_Waitall', 0, 0)
      call late('MPI_Recv_init', 40)
   end do
   call MPI_Request_free(r(1), e);  call note('MPI_Request_free', 0, 0)
   call MPI_Request_free(r(2), e);  call note('MPI_Request_free', 0, 0)
#ifdef HAS_MPI_4
   count = 7
   call MPI_Psend_init(a, 5, count, MPI_INTEGER, right, 10, w, MPI_INFO_NULL, r(1), e);  call note('MPI_Psend_init', 0, 0)
   call MPI_Precv_init(b, 5, count, MPI_INTEGER, left, 10, w, MPI_INFO_NULL, r(2), e);  call note('MPI_Precv_init', 0, 0)
   done = [1, 4, 0, 0]
   do k = 1, 2
      call MPI_Startall(2, r, e);  call note('MPI_Startall', 0, 0)
      call MPI_Pready(0, r(1), e);  call note('MPI_Pready', 0, 0)
      call MPI_Pready_range(2, 3, r(1), e);  call note('MPI_Pready_range', 0, 0)
      call MPI_Pready_list(2, done, r(1), e);  call note('MPI_Pready_list', 0, 0)
      call later('MPI_Psend_init', 140)
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, e);  call note('MPI_Waitall', 0, 0)
      call late('MPI_Precv_init', 140)
   end do
   call MPI_Request_free(r(1), e);  call note('MPI_Request_free', 0, 0)
   call MPI_Request_free(r(2), e);  call note('MPI_Request_free', 0, 0)
   call MPI_Allreduce_init(a, b, 5, MPI_INTEGER, MPI_SUM, w, MPI_INFO_NULL, r(1), e);  call note('MPI_Allreduce_init', 0, 0)
   call MPI_Start(r(1), e);  call note('MPI_Start', 0, 0)
   call MPI_Wait(r(1), MPI_STATUS_IGNORE, e);  call note('MPI_Wait', 0, 0)
   call later('MPI_Allreduce_init', 20)
   call late('MPI_Allreduce_init', 20)
   call MPI_Request_free(r(1), e);  call note('MPI_Request_free', 0, 0)
#endif

   if (rank == 0) then
      call MPI_Bcast(a, 20, MPI_INTEGER, 0, w, e);  call note('MPI_Bcast', 80, 0)
      call MPI_Gather(MPI_IN_PLACE, 3, MPI_INTEGER, b, 3, MPI_INTEGER, 0, w, e);  call note('MPI_Gather', 0, 12*(size - 1))
   else
      call MPI_Bcast(a, 20, MPI_INTEGER, 0, w, e);  call note('MPI_Bcast', 0, 80)
      call MPI_Gather(a, 3, MPI_INTEGER, b, 3, MPI_INTEGER, 0, w, e);  call note('MPI_Gather', 12, 0)
   end if
   call MPI_Allreduce(a, b, 5, MPI_INTEGER, MPI_SUM, w, e);  call note('MPI_Allreduce', 20, 20)
   call MPI_Allreduce(MPI_IN_PLACE, b, 5, MPI_INTEGER, MPI_SUM, w, e);  call note('MPI_Allreduce', 20, 20)
   call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_INTEGER, w, e);  call note('MPI_Allgather', 8, 8*size)
   counts = 0
   displs = 0
   do k = 1, size
      counts(k) = k
      displs(k) = 20*k
   end do
   call MPI_Allgatherv(a, rank + 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, w, e)
   call note('MPI_Allgatherv', 4*(rank + 1), 4*size*(size + 1)/2)
   call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 3, MPI_INTEGER, w, e);  call note('MPI_Alltoall', 12*size, 12*size)
   call MPI_Barrier(w, e);  call note('MPI_Barrier', 0, 0)

   call MPI_Comm_dup(w, c, e);  call note('MPI_Comm_dup', 0, 0)
   call MPI_Sendrecv(a, 1, MPI_INTEGER, right, 2, b, 1, MPI_INTEGER, left, 2, c, MPI_STATUS_IGNORE, e)
   call note('MPI_Sendrecv', 4, 4)
   call MPI_Comm_free(c, e);  call note('MPI_Comm_free', 0, 0)

   bytes = 400
   call MPI_Win_create(a, bytes, 4, MPI_INFO_NULL, w, win, e);  call note('MPI_Win_create', 0, 0)
   call MPI_Win_fence(0, win, e);  call note('MPI_Win_fence', 0, 0)
   disp = 0
   call MPI_Put(b, 3, MPI_INTEGER, right, disp, 3, MPI_INTEGER, win, e);  call note('MPI_Put', 12, 0)
   call MPI_Win_fence(0, win, e);  call note('MPI_Win_fence', 0, 0)
   call MPI_Win_free(win, e);  call note('MPI_Win_free', 0, 0)

   call MPI_File_open(w, trim(base)//'.data', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, e)
   call note('MPI_File_open', 0, 0)
   offset = rank*64
   call MPI_File_write_at(f, offset, a, 16, MPI_INTEGER, MPI_STATUS_IGNORE, e);  call note('MPI_File_write_at', 64, 0)
   call MPI_File_read_at(f, offset, b, 16, MPI_INTEGER, st, e);  call note('MPI_File_read_at', 0, 64)
   call MPI_File_close(f, e);  call note('MPI_File_close', 0, 0)

   call note('MPI_Finalize', 0, 0)
   call put_books(base, rank)
   if (rank == 0) print '(a)', 'calls: done'
   call MPI_Finalize(e)
end program
