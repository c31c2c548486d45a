# SPDX-License-Identifier: Apache-2.0
# interaction/weave: networks out of what each thread recorded: messages, waits, regions, steps.
MODULES                += interaction/weave
interaction/weave.src  := netweave.c netweave_group.c netweave_meet.c \
			  netweave_message.c netweave_process.c \
			  netweave_stream.c netweave_task.c
interaction/weave.uses := common/base common/container interaction
