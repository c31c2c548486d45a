# SPDX-License-Identifier: Apache-2.0
# mainsm: the main monitor, one for each user: its wiring and its program.
MODULES += mainsm
mainsm.src := audit.c branches.c greet.c hosts.c lapse.c mainsm.c peer.c places.c program.c \
		services.c settings.c tools.c
mainsm.programs := mainsm
mainsm.inner := mainsm
mainsm.uses := common/base common/container common/ring eventlog eventlog/spool \
		common/omis/text common/omis/services common/omis common/loop common/net \
		common/conf common/audit common/link common/daemon common/authority tree \
		mainsm/directory mainsm/tool mainsm/csr mainsm/subscription mainsm/registry \
		mainsm/measure mainsm/history mainsm/service mainsm/start
