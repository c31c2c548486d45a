# SPDX-License-Identifier: Apache-2.0
# common/route: splits a checked request over branches, merges their replies. Pure: time is an
# argument.
MODULES           += common/route
common/route.src  := event.c view.c rights.c objects.c plan.c arm.c predicate.c gather.c implied.c
common/route.uses := common/base common/container common/cli common/ring common/omis/text \
		common/omis/services common/omis/reply common/tracer
