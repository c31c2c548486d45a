# SPDX-License-Identifier: Apache-2.0
# sm/subscription: event subscriptions that an sm passes on between its parent and its hosts.
MODULES += sm/subscription
sm/subscription.src := source.c subscription.c
sm/subscription.uses := common/base common/container common/store common/loop tree \
		eventlog eventlog/keep sm/hosts
