# SPDX-License-Identifier: Apache-2.0
# sm: the site monitor, one for each site: its program.
MODULES += sm
sm.src := program.c settings.c shared.c
sm.programs := sm
sm.inner := sm
sm.uses := common/base common/omis/text common/omis common/loop common/net common/conf \
		common/audit common/link common/member common/daemon common/authority sm/hosts \
		sm/node sm/shared
