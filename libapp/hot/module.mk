# SPDX-License-Identifier: Apache-2.0
# libapp/hot: the path of a watched call: hooks, arguments, bytes, partners, the flavour of MPI.
MODULES              += libapp/hot
libapp/hot.src       := app_state.c args.c claim.c comm.c event.c flavour.c flavour_mpich.c \
		flavour_openmpi.c hook.c listing.c meter.c partner.c real.c requests.c \
		site.c volume.c wait.c waited.c
libapp/hot.uses      := common/base common/gate common/ring libapp/match
libapp/hot.cflags    := $(libapp.inside)
libapp/hot.libs      := -ldl
libapp/hot.hot       := hook.o args.o volume.o listing.o wait.o waited.o requests.o \
		comm.o partner.o event.o meter.o site.o
libapp/hot.hot_allow := libapp/hot/hot.allow
libapp/hot.statics   := app_state.c:numbered app_state.c:collective_word \
		app_state.c:hook_word app_state.c:hook_thread app_state.c:hook_nowhere \
		requests.c:table requests.c:live listing.c:next wait.c:f08_base comm.c:cache \
		comm.c:generation comm.c:world_group event.c:potential flavour.c:flavour \
		flavour.c:mpi flavour.c:text flavour_openmpi.c:openmpi flavour_mpich.c:mpich \
		app_state.c:app_state \
		app_state.c:args_message_ops site.c:site_text site.c:site_ntext site.c:stack

# Functions are entered with any vector register in use: these files leave them all alone.
$(B)/libapp/setup/function.o $(B)/libapp/hot/meter.o: CFLAGS += $(libapp.general)
libapp.general := $(shell echo | $(CC) -mgeneral-regs-only -x c -c -o /dev/null - 2>/dev/null && \
		echo -mgeneral-regs-only)
