# SPDX-License-Identifier: Apache-2.0
# lm/measure: pieces of measurements that run on this host.
MODULES += lm/measure
lm/measure.src := baselines.c input.c input_cells.c input_figure.c input_foreign.c input_mount.c \
		input_plugin.c input_region.c measurements.c measurements_clock.c \
		measurements_load.c measurements_probe.c measurements_read.c
lm/measure.uses := common/base common/container common/store common/time common/ring \
		common/omis/text common/omis/reply common/loop proto common/flow/engine tree \
		pmsl/check lm/host lm/proc lm/instrument lm/task lm/helper \
		common/tracer common/omis/services common/omis lm/service lm/plugin
