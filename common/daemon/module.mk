# SPDX-License-Identifier: Apache-2.0
# common/daemon: what lm, sm and mainsm have in common: links to other
# daemons, enrolment, configuration, and the frame of a main().
MODULES           += common/daemon
common/daemon.src := meter.c link.c link_in.c link_beat.c link_stats.c link_net.c ascent.c connstr.c enrol.c renew.c \
		     conf.c conf_file.c conf_value.c conf_text.c \
		     daemon.c daemon_args.c daemon_config.c background.c notify.c lock.c health.c \
		     audit.c audit_line.c audit_read.c
common/daemon.uses := common/base common/omis common/loop proto common/net common/route
