# SPDX-License-Identifier: Apache-2.0
# tools/cmd/waits: omig waits and omig matrix.
MODULES              += tools/cmd/waits
tools/cmd/waits.src  := cmd_matrix.c cmd_waits.c exchange_watch.c
tools/cmd/waits.uses := common/base common/cli common/json pmsl/check tools/libomis tools/term \
			tools/session tools/view tools/waits tools/cmd
