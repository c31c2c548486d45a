# SPDX-License-Identifier: Apache-2.0
# tree: the inner node of the tree, once for sm and mainsm: requests, parts, reads of branches.
MODULES   += tree
tree.src  := branches.c executor.c flowbox.c flowlook.c loading.c missed.c parting.c read_clock.c \
		refusal.c run_ask.c stage.c standing.c states.c streams.c wire.c
tree.uses := common/base common/container common/omis/text common/omis/reply common/omis \
		common/loop proto common/net common/flow/graph common/flow/engine \
		common/flow/batch common/route common/link common/daemon
