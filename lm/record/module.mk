# SPDX-License-Identifier: Apache-2.0
# lm/record: blocks of events and kept subscriptions, as one more source of events.
# circle: record.c record_site.c recorder.c: one module over three files
MODULES += lm/record
lm/record.src := record.c record_site.c record_types.c recorder.c ring_cursor.c
lm/record.uses := common/base common/container common/store common/time common/ring proto \
		eventlog eventlog/keep lm/proc lm/instrument lm/csr
