# SPDX-License-Identifier: Apache-2.0
# common/daemon: the skeleton of lm, sm and mainsm, and the frame of a main().
MODULES           += common/daemon
common/daemon.src := counters.c daemon.c daemon_args.c daemon_config.c background.c notify.c \
		lock.c health.c
common/daemon.uses := common/base common/time common/cli common/omis/text common/omis \
		common/loop proto common/net common/route common/conf \
		common/link
