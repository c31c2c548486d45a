# SPDX-License-Identifier: Apache-2.0
# lm/plugin: services and metrics of shared objects that the user adds, each in its own process.
MODULES                      += lm/plugin
lm/plugin.src                := plugin_file.c plugin_metric.c plugin_services.c plugins.c serve.c
lm/plugin.uses               := common/base common/container common/store common/loop \
		common/omis/text common/omis/services common/omis/reply common/omis common/tracer \
		lm/helper lm/proc lm/task lm/service
lm/plugin.headers            := plugin.h
lm/plugin.programs           := lm-plugin
lm/plugin.inner              := lm-plugin
lm/plugin.main.lm-plugin     := lm_plugin_main.c
