# SPDX-License-Identifier: Apache-2.0
# eventlog: records, blocks and streams of events, written and read. docs/eventlog.md has the
# format.
MODULES       += eventlog
eventlog.src  := evbytes.c evtype.c evblock.c evwrite.c evgap.c evread.c evfile.c evwhere.c \
		evbalance.c evkeep.c evtrigger.c
eventlog.uses := common/base common/container
