# SPDX-License-Identifier: Apache-2.0
# sim/tools: tools of a world, and checks of their answers.
MODULES        += sim/tools
sim/tools.src  := admin.c answers.c asker.c echo.c keeper.c keptjudge.c simtool.c user.c
sim/tools.uses := common/base common/container common/omis/text common/omis/reply proto \
		common/net common/link common/daemon common/authority tree eventlog sim/world \
		sim/nodes sim/rogues
