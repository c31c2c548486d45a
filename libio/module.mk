# SPDX-License-Identifier: Apache-2.0
# libio: the library in programs that counts what their calls read and write, by file system.
MODULES        += libio
libio.src      := mounts.c wrap.c
libio.uses     := common/base common/ring
# Wrappers have the names of the C library: its headers must not replace these by checked ones.
libio.cflags   := $(libapp.inside)
libio.shared   := libomig-io
libio.anywhere := libomig-io
libio.found     = $(libdir)/libomig-io.so:$(beside)/libomig-io.so
libio.keep.libomig-io := io_*
# The names that programs call, in the library alone: its objects have others.
libio.calls    := read pread pread64 readv preadv preadv64 preadv2 preadv64v2 \
		write pwrite pwrite64 writev pwritev pwritev64 pwritev2 pwritev64v2 \
		__read_chk __pread_chk __pread64_chk sendfile sendfile64 copy_file_range splice \
		prctl syscall
libio.statics  := mounts.c:io_table wrap.c:real

# Never unloaded: its wrappers are called until the process ends.
$(B)/lib/libomig-io.so: BASE_LDFLAGS += -Wl,-z,nodelete \
		$(foreach c,$(libio.calls),-Wl$(comma)--defsym=$c=io_$c)
