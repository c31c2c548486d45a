# SPDX-License-Identifier: Apache-2.0
# tracer/thread: one stopped thread: its registers, stack and memory, and calls inserted into it.
MODULES                  += tracer/thread
tracer/thread.src        := who.c maps.c regs.c fpregs.c stack.c change.c call.c
tracer/thread.uses       := common/base
