# SPDX-License-Identifier: Apache-2.0
# sm/hosts: the branches of an sm: hosts, their objects, and the scope of each tool.
# circle: nodes.c nodes_greet.c: one module over two files
MODULES += sm/hosts
sm/hosts.src := nodes.c nodes_claim.c nodes_greet.c objects.c placement.c quota.c view.c
sm/hosts.uses := common/base common/container common/time common/omis/text common/omis \
		common/loop proto common/net common/route common/link common/daemon tree
