# SPDX-License-Identifier: Apache-2.0
# mainsm/subscription: event subscriptions of tools, over all sites.
# circle: subscription.c subscription_part.c: a list and its member
MODULES += mainsm/subscription
mainsm/subscription.src := subscription.c subscription_part.c
mainsm/subscription.uses := common/base common/container common/omis/text common/omis/services \
		common/omis common/loop proto common/link common/daemon tree mainsm/directory \
		mainsm/tool mainsm/csr
