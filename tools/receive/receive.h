/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omig log receive, the netlogd of paper 001: takes events of many programs, and stores them in a
 * file or an archive, or passes them on. Blocks wait on disk (eventlog/spool), so no program
 * waits for a slow destination. Blocks are acknowledged when they are on that disk.
 */
#ifndef TOOLS_RECEIVE_RECEIVE_H
#define TOOLS_RECEIVE_RECEIVE_H

#include "common/base/clock.h"

#include <stdbool.h>
#include <stdint.h>

struct receive_options {
	char **urls; /* addresses where it listens, ended by NULL */
	const char *to; /* as destination_open() */
	const char *spool; /* folder of the spool; NULL: beside the file of the destination */
	uint64_t room_mib; /* of the spool */
	uint64_t rotate_mib; /* a file of this size is rotated; 0: never */
	nsec_t rotate_ns; /* and after this time; 0: never */
	uint64_t older; /* number of rotated files that are kept */
	nsec_t for_ns; /* 0: until a signal */
	/* mainsm that issues the certificate for TLS; NULL: the one that each tool finds */
	const char *mainsm;
	nsec_t timeout_ns; /* to get that certificate */
	bool needs_tls; /* refuses addresses without TLS */
	bool json, is_quiet;
};

/*
 * Serves until SIGTERM, SIGINT or the time is over. Then stores what has arrived, and reports what
 * was received and lost. Returns an exit status: CMD_DAMAGED if events were lost, here or on the
 * way.
 */
int receive(const struct receive_options *w);

#endif
