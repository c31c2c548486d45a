/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by registration.c and registration_socket.c. */
#ifndef LM_ATTACH_REGISTRATION_INTERNAL_H
#define LM_ATTACH_REGISTRATION_INTERNAL_H

#include "common/container/list.h"
#include "lm/attach/closer.h"
#include "lm/attach/registration.h"

/* Processes that were found with a segment of another build: one report for each reason. */
struct unwatched {
	char why[ERR_TEXT_BYTES];
	int32_t pid; /* pid of one of them */
	size_t n;
};

struct registration {
	struct registration_conf conf;
	struct chosen *chosen; /* owned */
	char *socket, *memfd; /* owned */
	struct closer *closer; /* owned: closes the descriptors that processes passed */
	int listen_fd; /* -1: none */
	bool is_given_up; /* the socket's path no longer belongs to this lm */
	struct loop_fd *listen;
	int spare[REGISTRATION_SPARE_FDS]; /* released while a process is accepted; -1: not open */
	struct loop_timer *rest; /* without descriptors: listening continues after this time */
	bool is_resting;
	struct list visitors; /* connected, without a message yet */
	size_t nvisitor;
	struct list unready;
	size_t nunready;
	struct loop_timer *retry;
	uint32_t other[REGISTRATION_VERSIONS_MAX]; /* versions of segments that were refused */
	size_t nother;
	struct unwatched unwatched[REGISTRATION_VERSIONS_MAX];
	size_t nunwatched;
	struct registration_stats stats;
};

/* A segment that its process has not finished yet. */
struct unready {
	struct list link;
	int fd;
	int32_t pid;
	unsigned tries;
	bool adopted;
};

void registration_refuse(struct registration *n, int32_t pid, const struct err *why);

int registration_listen(struct registration *n, struct err *e);
void registration_unlisten(struct registration *n);

#endif
