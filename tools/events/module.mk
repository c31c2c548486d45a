# SPDX-License-Identifier: Apache-2.0
# tools/events: followed and subscribed events, and event logs.
MODULES           += tools/events
tools/events.src  := destination.c event_tail.c logarchive.c logcompare.c logmerge.c logplace.c \
		     logquery.c logread.c logtail.c logwrite.c subscription.c
tools/events.uses := common/base common/container common/cli common/json common/omis/text \
		common/omis eventlog eventlog/text eventlog/sort eventlog/archive eventlog/send \
		tools/libomis \
		tools/term tools/session
