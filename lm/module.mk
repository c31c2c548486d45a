# SPDX-License-Identifier: Apache-2.0
# lm: the local monitor, one for each host and user: its wiring and its program.
MODULES += lm
lm.src := announce.c lm.c lm_audit.c lm_daemon.c lm_end.c lm_services.c lm_status.c
lm.uses := common/base common/time common/ring common/loop proto common/net common/audit \
		common/link common/member common/daemon tree lm/host lm/helper lm/proc lm/hold \
		lm/instrument lm/attach lm/task lm/service lm/plugin lm/csr lm/record lm/contract \
		lm/measure
lm.programs := lm
lm.inner := lm
# Set by the parser of options.
lm.statics := lm_daemon.c:ignored_daemon lm_daemon.c:listen_fd lm_daemon.c:successor
