/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NEKO_HOSTS_FACTORY_INTERNAL_H
#define NEKO_HOSTS_FACTORY_INTERNAL_H

#include "common/container/list.h"
#include "common/loop/loop.h"
#include "common/net/net.h"
#include "common/time/timebase.h"
#include "neko/hosts/hosts.h"
#include "common/member/server_link.h"
#include "proto/frame.h"

#include <sys/types.h>

#define FACTORY_WORKS_MAX 256 /* processes of all runs at one time */

struct factory {
	struct loop *loop; /* borrowed */
	struct net_ctx *net; /* owned */
	struct net_listener *listener; /* owned */
	struct server_link *mainsm; /* owned */
	struct list works;
	unsigned nwork;
	bool takes_objects;
};

/*
 * Consumes the accepted channel of a peer that may start processes. The channel belongs to a
 * process as soon as its first message requests one.
 */
void work_take(struct factory *f, struct chan *c);

/* Ends all processes. */
void work_end_all(struct factory *f);

#endif
