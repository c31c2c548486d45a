# SPDX-License-Identifier: Apache-2.0
# interaction/set: mixed events split into networks, totals over them, and the clocks of nodes.
MODULES              += interaction/set
interaction/set.src  := netsplit.c nettotal.c netclock.c netfilter.c
interaction/set.uses := common/base common/container stats interaction
