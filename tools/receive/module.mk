# SPDX-License-Identifier: Apache-2.0
# tools/receive: a receiver of event logs: its ports, its spool and its destination.
# circle: conns.c ports.c receive.c receive_report.c tls.c: one receiver over its files
MODULES            += tools/receive
tools/receive.src  := conns.c delivery.c ports.c receive.c receive_report.c tls.c
tools/receive.uses := common/base common/container common/cli common/json common/loop \
		proto common/net common/link common/member common/daemon eventlog eventlog/text \
		eventlog/send eventlog/inlet eventlog/spool \
		tools/term tools/libomis tools/events tools/tunnel
