# SPDX-License-Identifier: Apache-2.0
# eventlog/spool: blocks on disk between their source and their consumers.
# circle: consumer.c spool.c spool_commit.c: one spool over its files
# circle: spooler.c spooler_loop.c spooler_thread.c: one thread over its files
MODULES             += eventlog/spool
eventlog/spool.src  := ledger.c ledger_file.c segments.c walk.c spool.c spool_commit.c \
		consumer.c scan.c spooler.c spooler_turn.c \
		       spooler_thread.c spooler_loop.c
eventlog/spool.uses := common/base common/container common/loop common/store eventlog
