# SPDX-License-Identifier: Apache-2.0
# tools/cmd/stacks: the command omig stacks.
MODULES                += tools/cmd/stacks
tools/cmd/stacks.src   := cmd_stacks.c
tools/cmd/stacks.uses  := common/base common/json tools/libomis tools/term tools/session \
		tools/view tools/cmd
