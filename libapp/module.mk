# SPDX-License-Identifier: Apache-2.0
# libapp: the library inside the ranks. One libomig for every MPI: it needs no MPI to build, and leaves none
# to the linker. -fno-stack-protector: the canary would be the dearest part of a count.
MODULES       += libapp
libapp.src    := hook.c claim.c args.c volume.c listing.c wait.c requests.c comm.c partner.c event.c meter.c probe.c probe_find.c events.c real.c flavour.c \
		 flavour_openmpi.c flavour_mpich.c init.c setup.c segment.c identity.c register.c launch.c app.c
libapp.uses   := common/base common/ring
libapp.cflags := -fno-stack-protector -U_FORTIFY_SOURCE
libapp.gen    := $(B)/gen/libapp/wrap_c.c $(B)/gen/libapp/wrap_f.c $(B)/gen/libapp/wrap_f08.c
libapp.libs   := -ldl
libapp.headers := app.h
libapp.pc     := omig-app.pc.in

# Never unloaded: its hooks are called until the process ends, and its thread-local storage is static.
libapp.shared := libomig
libapp.anywhere := libomig
libapp.found   = $(libdir)/libomig.so:$(beside)/libomig.so
libapp.keep.libomig := MPI_* mpi_* MPIX_* mpix_* omig_app_*

libapp.hot    := hook.o args.o volume.o listing.o wait.o requests.o comm.o partner.o event.o meter.o probe.o events.o \
		 $(B)/gen/libapp/wrap_c.o $(B)/gen/libapp/wrap_f.o $(B)/gen/libapp/wrap_f08.o
libapp.hot_allow := libapp/hot.allow

libapp.statics := hook.c:hook_word hook.c:hook_thread hook.c:hook_nowhere requests.c:table requests.c:live \
		  listing.c:next wait.c:f08_base comm.c:cache comm.c:generation \
		  comm.c:world_group event.c:potential probe.c:probe_known probe_find.c:found \
		  probe_find.c:nfound events.c:joined events.c:text_used events.c:link probe_find.c:nlost \
		  flavour.c:flavour flavour.c:mpi flavour.c:text flavour_openmpi.c:openmpi \
		  flavour_mpich.c:mpich init.c:real setup.c:app_state setup.c:begun \
		  segment.c:made launch.c:env wrap_c.c:real wrap_f.c:real wrap_f08.c:real

$(B)/gen/libapp/wrap_%.c: common/ring/calls.def libapp/wrap.awk
	$(call say,AWK)mkdir -p $(@D) && awk -v out=$* -f libapp/wrap.awk $< >$@
$(B)/lib/libomig.so: BASE_LDFLAGS += -Wl,-z,nodelete
include tests/libapp/rules.mk
