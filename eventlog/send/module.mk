# SPDX-License-Identifier: Apache-2.0
# eventlog/send: blocks of events on their way to a receiver in the net, or to syslog.
# circle: evsend.c sendsyslog.c sendtcp.c sendtunnel.c sendudp.c: one sender and its ways
MODULES            += eventlog/send
eventlog/send.src  := evurl.c evsend.c sendring.c sendsyslog.c sendtcp.c \
		sendtunnel.c sendudp.c
eventlog/send.uses := common/base common/inproc eventlog eventlog/text
