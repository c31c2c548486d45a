# SPDX-License-Identifier: Apache-2.0
# tools/waits: which rank waits for which, and the matrix of partners.
MODULES          += tools/waits
tools/waits.src  := exchange.c matrix.c matrix_draw.c matrix_show.c waits.c waits_collective.c \
		    waits_show.c
tools/waits.uses := common/base common/axis common/cli common/json common/ring eventlog \
		    eventlog/lifeline pmsl/check tools/libomis tools/term tools/session tools/view
