/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes on a connection to a receiver besides blocks (docs/eventlog.md). */
#ifndef EVENTLOG_SEND_EVSEND_HELLO_H
#define EVENTLOG_SEND_EVSEND_HELLO_H

/* The first bytes of the sender, which request acknowledgements. */
#define EVSEND_HELLO "OMIG-NETLOG/1\n"
/*
 * An acknowledgement, lowest byte first: the number of bytes behind the hello that the receiver has
 * on disk. The first acknowledgement is 0, which identifies a receiver.
 */
#define EVSEND_ACK_BYTES 8

#endif
