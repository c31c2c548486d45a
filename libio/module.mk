# SPDX-License-Identifier: Apache-2.0
# libio: the library in programs that records their calls: what they read and write, by file
# system, and the messages and processes of interactions.
MODULES        += libio
libio.src      := mounts.c open.c polls.c processes.c real.c record.c sockets.c stdio.c \
		streams.c wrap.c
libio.uses     := common/base common/board common/ring
# Wrappers have the names of the C library: its headers must not replace these by checked ones.
libio.cflags   := $(libapp.inside)
libio.shared   := libomig-io
libio.anywhere := libomig-io
libio.found     = $(foreach d,$(inside),\
		    $(libdir)/$(libio.soname.libomig-io):$d/libomig-io.so)
libio.keep.libomig-io := io_*
# The names that programs call, in the library alone: its objects have others.
libio.calls    := read pread pread64 readv preadv preadv64 preadv2 preadv64v2 \
		write pwrite pwrite64 writev pwritev pwritev64 pwritev2 pwritev64v2 \
		__read_chk __pread_chk __pread64_chk sendfile sendfile64 copy_file_range splice \
		recv recvfrom recvmsg send sendto sendmsg __recv_chk __recvfrom_chk socketpair \
		poll __poll_chk ppoll select pselect epoll_wait epoll_pwait \
		prctl syscall posix_spawn posix_spawnp _exit _Exit wait waitpid wait3 wait4 waitid \
		$(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),vfork)
libio.statics  := mounts.c:io_table wrap.c:real record.c:io_board record.c:label \
		stdio.c:real_read stdio.c:real_write processes.c:forks processes.c:real \
		record.c:io_polled \
		$(addprefix polls.c:real_,poll __poll_chk ppoll select pselect epoll_wait \
		epoll_pwait)

# Never unloaded: its wrappers are called until the process ends.
$(B)/lib/libomig-io.so: BASE_LDFLAGS += -Wl,-z,nodelete \
		$(foreach c,$(libio.calls),-Wl$(comma)--defsym=$c=io_$c)
