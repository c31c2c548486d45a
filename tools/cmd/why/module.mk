# SPDX-License-Identifier: Apache-2.0
# tools/cmd/why: omig why.
MODULES            += tools/cmd/why
tools/cmd/why.src  := cmd_why.c
tools/cmd/why.uses := common/base common/cli common/json why tools/libomis tools/term \
		      tools/session tools/view tools/waits tools/why tools/cmd
