# SPDX-License-Identifier: Apache-2.0
# common/ring: the segment that a watched process shares with its lm, and the table of watched
# calls.
# circle: segmeter.c segprobe.c segread.c segview.c segwrite.c: one segment over its files
MODULES          += common/ring
common/ring.src  := seg.c seglisten.c ring.c cell.c action.c calls.c segview.c segread.c \
		segwrite.c segprobe.c segmeter.c region.c posted.c segposted.c segsite.c \
		segevent.c chosen.c
common/ring.uses := common/base
common/ring.gen  := $(B)/gen/common/ring/calls_table.c $(B)/gen/common/ring/calls_id.h
# What runs inside the ranks: no allocation, no lock, no system call.
common/ring.hot  := ring.o cell.o action.o posted.o
common/ring.hot_allow := common/ring/hot.allow

$(B)/gen/common/ring/calls_id.h: common/ring/calls.def common/ring/calls.awk
	$(call say,AWK)mkdir -p $(@D) && awk -v out=id -f common/ring/calls.awk $< >$@
$(B)/gen/common/ring/calls_table.c: common/ring/calls.def common/ring/calls.awk
	$(call say,AWK)mkdir -p $(@D) && awk -v out=table -f common/ring/calls.awk $< >$@
