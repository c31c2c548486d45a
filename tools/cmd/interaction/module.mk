# SPDX-License-Identifier: Apache-2.0
# tools/cmd/interaction: the command omig interaction.
MODULES                     += tools/cmd/interaction
tools/cmd/interaction.src   := cmd_interaction.c
tools/cmd/interaction.uses  := common/base interaction tools/term tools/events tools/interaction \
		tools/cmd
