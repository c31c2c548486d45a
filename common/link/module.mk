# SPDX-License-Identifier: Apache-2.0
# common/link: links to other daemons: heartbeats, rate limits, connection strings.
# circle: link.c link_heartbeat.c link_in.c meter.c: one link over its files; meter.c pauses it
MODULES         += common/link
common/link.src  := connstr.c link.c link_heartbeat.c link_in.c link_net.c meter.c
common/link.uses := common/base common/container common/time common/loop proto \
		common/net
