# SPDX-License-Identifier: Apache-2.0
# tools/cmd/plugin: the command omig plugin.
MODULES                 += tools/cmd/plugin
tools/cmd/plugin.src    := cmd_plugin.c
tools/cmd/plugin.uses   := common/base common/cli common/json common/omis/text \
		tools/libomis tools/term tools/session tools/cmd
