# SPDX-License-Identifier: Apache-2.0
# tools/cmd/metrics: the command omig metrics.
MODULES                  += tools/cmd/metrics
tools/cmd/metrics.src    := cmd_metrics.c registered.c
tools/cmd/metrics.uses   := common/base common/cli common/json common/omis/text pmsl/text \
		pmsl/check pmsl tools/libomis tools/term tools/session tools/measure tools/cmd
