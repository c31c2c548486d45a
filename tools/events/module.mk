# SPDX-License-Identifier: Apache-2.0
# tools/events: followed and subscribed events, and event logs.
MODULES           += tools/events
tools/events.src  := destination.c event_tail.c logarchive.c logcompare.c logmerge.c logplace.c \
		     logquery.c logread.c logtail.c logwrite.c monitor_out.c \
		     subscription.c
tools/events.uses := common/base common/container common/cli common/json common/ring \
		common/omis/text common/omis eventlog eventlog/text eventlog/sort eventlog/archive \
		eventlog/send tools/libomis tools/term tools/session
# The library in this process, found once.
tools/events.statics := monitor_out.c:the_link monitor_out.c:try_event
