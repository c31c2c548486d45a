# SPDX-License-Identifier: Apache-2.0
# neko/hosts: real runs over several hosts: factories, and the master's lines to them.
MODULES         += neko/hosts
neko/hosts.src  := factory.c renewal.c work.c crew_hosts.c
neko/hosts.uses := common/base common/loop proto common/net common/route common/flow \
		  common/daemon stats neko/run
