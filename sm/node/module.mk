# SPDX-License-Identifier: Apache-2.0
# sm/node: one sm of one user: its parent, its branches, and its own services.
MODULES += sm/node
sm/node.src := announcer.c counters.c parent_link.c requests.c sessions.c sm.c sm_branches.c \
		sm_end.c sm_health.c sm_parent.c
sm/node.uses := common/base common/container common/time common/omis/text common/omis/services \
		common/omis/reply common/omis common/loop proto common/net common/route \
		common/link common/member common/daemon tree sm/hosts sm/csr sm/measure \
		sm/subscription
