# SPDX-License-Identifier: Apache-2.0
# eventlog/sort: events of any number of logs by time, in bounded memory.
MODULES            += eventlog/sort
eventlog/sort.src  := evsort.c evrun.c
eventlog/sort.uses := common/base common/container eventlog eventlog/text
