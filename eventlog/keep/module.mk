# SPDX-License-Identifier: Apache-2.0
# eventlog/keep: kept subscriptions: their events wait on disk until they are acknowledged.
# circle: keep.c keep_disk.c keeps.c: a list and its member
MODULES             += eventlog/keep
eventlog/keep.src   := keep.c keep_disk.c keeps.c
eventlog/keep.uses  := common/base common/container common/store common/loop proto eventlog \
		eventlog/spool
