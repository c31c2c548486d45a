# SPDX-License-Identifier: Apache-2.0
# libapp/setup: the start of watching in a process, also by its first probe or event.
# circle: events.c probe.c probe_find.c segment.c setup.c: probes and events begin the set-up
MODULES                += libapp/setup
libapp/setup.src       := events.c function.c function_area.c identity.c launch.c \
		modules.c probe.c probe_find.c register.c segment.c setup.c env.c
libapp/setup.uses      := common/base common/inproc common/gate common/ring libapp/hot libapp/vertex
libapp/setup.cflags    := $(libapp.inside)
libapp/setup.hot       := probe.o events.o function.o
libapp/setup.hot_allow := libapp/hot/hot.allow
libapp/setup.statics   := env.c:stderr_at_start probe.c:probe_known probe_find.c:found \
		probe_find.c:nfound probe_find.c:nlost events.c:joined events.c:text_used \
		events.c:link function.c:function_word \
		function.c:state function.c:function_save_bytes function.c:function_slow \
		function_area.c:area events.c:mounts_joined setup.c:begun segment.c:made
