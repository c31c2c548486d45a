# SPDX-License-Identifier: Apache-2.0
# common/tracer: messages between an lm and its lm-trace.
MODULES             += common/tracer
common/tracer.src   := tracer_msg.c syscalls.c
common/tracer.gen   := $(B)/gen/common/tracer/syscall_names.c
common/tracer.uses  := common/base

$(B)/gen/common/tracer/syscall_names.c: common/tracer/syscalls.awk
	$(call say,AWK)mkdir -p $(@D) && echo '#include <sys/syscall.h>' | $(CC) -dM -E - | \
		sort | awk -f $< >$@
