/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a connection to a receiver beside its blocks (docs/eventlog.md). */
#ifndef EVENTLOG_SEND_EVSEND_HELLO_H
#define EVENTLOG_SEND_EVSEND_HELLO_H

/* The first bytes of the sender: the receiver is asked for acknowledgements. */
#define EVSEND_HELLO "OMIG-NETLOG/1\n"
/*
 * An acknowledgement, lowest byte first: the bytes of this connection, behind the hello, that are
 * on the disk of the receiver. The first one is 0: the peer is a receiver.
 */
#define EVSEND_ACK_BYTES 8

#endif
