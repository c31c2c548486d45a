# SPDX-License-Identifier: Apache-2.0
# tracer: lm-trace, the process of an lm for requests that need ptrace.
# circle: create.c stops.c tracees.c watches.c: one tracer over its files
MODULES                 += tracer
tracer.src              := unwind.c work.c tracees.c stops.c watches.c create.c freeze.c enter.c \
		enter_check.c enter_pages.c functions.c line.c source.c tracer.c
tracer.programs         := lm-trace
tracer.inner            := lm-trace
tracer.main.lm-trace    := lm_trace_main.c
tracer.uses             := common/base common/container common/loop common/ring common/tracer \
		common/gate tracer/thread tracer/gate tracer/function
tracer.pkgs             := libdw
