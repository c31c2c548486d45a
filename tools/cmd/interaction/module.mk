# SPDX-License-Identifier: Apache-2.0
# tools/cmd/interaction: the command omig interaction.
MODULES                     += tools/cmd/interaction
tools/cmd/interaction.src   := cmd_interaction.c cmd_watch.c
tools/cmd/interaction.uses  := common/base common/cli interaction tools/term tools/session \
		tools/events tools/interaction tools/cmd
