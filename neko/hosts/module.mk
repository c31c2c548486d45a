# SPDX-License-Identifier: Apache-2.0
# neko/hosts: real runs over several hosts: factories, and the master's lines to them.
MODULES         += neko/hosts
neko/hosts.src  := factory.c work.c crew_hosts.c
neko/hosts.uses := common/base common/container common/time common/loop proto common/net stats \
		common/route common/link common/member common/daemon neko/run
