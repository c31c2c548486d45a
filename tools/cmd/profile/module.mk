# SPDX-License-Identifier: Apache-2.0
# tools/cmd/profile: the command omig calls.
MODULES                   += tools/cmd/profile
tools/cmd/profile.src     := cmd_calls.c
tools/cmd/profile.uses    := common/base common/json tools/libomis tools/term tools/session \
		tools/view tools/profile tools/cmd
