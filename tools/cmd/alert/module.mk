# SPDX-License-Identifier: Apache-2.0
# tools/cmd/alert: the command omig alert.
MODULES                 += tools/cmd/alert
tools/cmd/alert.src     := cmd_alert.c explain.c
tools/cmd/alert.uses    := common/base common/json common/omis/text tools/libomis \
		tools/term tools/session tools/view tools/alert tools/cmd
