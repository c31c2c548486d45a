# SPDX-License-Identifier: Apache-2.0
# mainsm/tool: tools: their sessions, scopes and locks.
MODULES += mainsm/tool
mainsm/tool.src := locks.c pa.c partners.c scope.c session.c view.c
mainsm/tool.uses := common/base common/container common/omis/text common/omis/services \
		common/omis/reply common/omis common/loop common/net common/route common/link \
		common/daemon tree mainsm/directory
