# SPDX-License-Identifier: Apache-2.0
# mainsm/registry: metrics that users have added to their monitor.
MODULES += mainsm/registry
mainsm/registry.src := registered.c registry.c registry_file.c
mainsm/registry.uses := common/base common/container common/store common/omis/text \
		pmsl/text pmsl
