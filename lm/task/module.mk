# SPDX-License-Identifier: Apache-2.0
# lm/task: actions under way, and their rights.
MODULES += lm/task
lm/task.src := rights.c task.c
lm/task.uses := common/base common/time common/omis/services common/omis common/loop \
		common/net common/route common/audit lm/proc lm/hold
