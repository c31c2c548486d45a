# SPDX-License-Identifier: Apache-2.0
# libapp: the library inside the ranks. One libomig for every MPI: it needs no MPI to build, and
# leaves none to the linker.
MODULES       += libapp
libapp.src    := init.c app.c enter.c
libapp.uses   := common/base common/gate common/ring libapp/hot libapp/vertex libapp/setup
# Wrappers leave the frame pointer of their callers alone where the compiler can.
libapp.frame  := $(shell echo | $(CC) -ffixed-rbp -x c -c -o /dev/null - 2>/dev/null && \
		 echo -ffixed-rbp -DOMIG_FIXED_FRAME)
libapp.cflags := $(libapp.inside) $(libapp.frame)
libapp.gen    := $(B)/gen/libapp/wrap_c.c $(B)/gen/libapp/wrap_f.c $(B)/gen/libapp/wrap_f08.c
libapp.headers := app.h
libapp.pc     := omig-app.pc.in
libapp.man    := omig-app.3.scd

# Never unloaded: its hooks are called until the process ends, and its thread-local storage is
# static.
libapp.shared := libomig
libapp.anywhere := libomig
libapp.found   = $(foreach d,$(inside),$(libdir)/$(libapp.soname.libomig):$d/libomig.so)
libapp.keep.libomig := MPI_* mpi_* MPIX_* mpix_* omig_app_*

libapp.hot       := $(B)/gen/libapp/wrap_c.o $(B)/gen/libapp/wrap_f.o $(B)/gen/libapp/wrap_f08.o
libapp.hot_allow := libapp/hot/hot.allow
libapp.statics   := init.c:real wrap_c.c:real wrap_f.c:real wrap_f08.c:real

$(B)/gen/libapp/wrap_%.c: common/ring/calls.def libapp/wrap.awk
	$(call say,AWK)mkdir -p $(@D) && awk -v out=$* -f libapp/wrap.awk $< >$@
# Lines are enough for generated code, and take a quarter less to compile.
$(libapp.hot): CFLAGS += -g1
$(B)/lib/libomig.so: BASE_LDFLAGS += -Wl,-z,nodelete
include tests/libapp/rules.mk
