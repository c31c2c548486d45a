# SPDX-License-Identifier: Apache-2.0
# eventlog/spool: blocks wait on disk between who makes them and who takes them.
MODULES             += eventlog/spool
eventlog/spool.src  := disk.c ledger.c ledger_file.c segments.c walk.c spool.c spool_commit.c consumer.c scan.c spooler.c spooler_turn.c \
		       spooler_thread.c spooler_loop.c
eventlog/spool.uses := common/base common/loop eventlog
