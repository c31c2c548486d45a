# SPDX-License-Identifier: Apache-2.0
# mainsm/service: the services that mainsm executes by itself; each file exports its table.
MODULES += mainsm/service
mainsm/service.src := admin.c adopt.c ask.c attach.c csr.c expected.c history.c job.c measure.c \
			metrics.c pa.c services.c site.c subscription.c
mainsm/service.uses := common/base common/container common/cli common/omis/text \
		common/omis/services common/omis/reply common/omis common/loop common/route \
		common/audit common/daemon common/authority tree mainsm/directory mainsm/tool \
		mainsm/csr mainsm/subscription mainsm/registry mainsm/measure mainsm/history \
		common/ring eventlog eventlog/spool
