# SPDX-License-Identifier: Apache-2.0
# eventlog/keep: kept subscriptions: events of one wait on disk until whoever is above has them.
MODULES             += eventlog/keep
eventlog/keep.src   := keep.c keep_disk.c keeps.c
eventlog/keep.uses  := common/base common/loop proto eventlog eventlog/spool
