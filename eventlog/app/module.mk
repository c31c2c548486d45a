# SPDX-License-Identifier: Apache-2.0
# eventlog/app: the library that programs write events with. It lives in foreign processes.
# circle: drain.c event.c helper.c link.c threads.c: one library over its files
MODULES               += eventlog/app
eventlog/app.src      := event.c interaction.c state.c threads.c drain.c clock.c types.c helper.c \
		link.c
eventlog/app.uses     := common/base common/inproc common/ring eventlog eventlog/send
eventlog/app.cflags   := -fno-stack-protector
eventlog/app.headers  := event.h interaction.h
eventlog/app.man      := omig-event.3.scd omig-interaction.3.scd
eventlog/app.pc       := omig-event.pc.in
eventlog/app.shared   := libomig-event
eventlog/app.typed    := libomig-event
eventlog/app.anywhere := libomig-event
eventlog/app.keep.libomig-event := omig_event_* omig_interaction_*
# The one log of the process; what a thread writes to.
eventlog/app.statics  := state.c:the state.c:omig_event_here interaction.c:source_event \
		interaction.c:fork_event interaction.c:join_event interaction.c:simple_event \
		interaction.c:sink_event interaction.c:is_done interaction.c:here interaction.c:seed

# Its thread runs until the process ends.
$(B)/lib/libomig-event.so: BASE_LDFLAGS += -Wl,-z,nodelete
