# SPDX-License-Identifier: Apache-2.0
# mainsm/registry: metrics that users and plug-ins have added to a monitor.
MODULES += mainsm/registry
mainsm/registry.src := plugged.c registered.c registry.c registry_file.c
mainsm/registry.uses := common/base common/container common/store common/omis/text \
		common/omis/services pmsl/text pmsl
