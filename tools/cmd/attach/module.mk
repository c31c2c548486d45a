# SPDX-License-Identifier: Apache-2.0
# tools/cmd/attach: the commands omig attach and omig detach.
MODULES                += tools/cmd/attach
tools/cmd/attach.src   := cmd_attach.c ranks.c
tools/cmd/attach.uses  := common/base common/json tools/libomis tools/term tools/session \
		tools/launch tools/cmd
