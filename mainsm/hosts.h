/* SPDX-License-Identifier: Apache-2.0 */
/* Names and addresses under which others reach this host. */
#ifndef MAINSM_HOSTS_H
#define MAINSM_HOSTS_H

#include "common/link/connstr.h"

/*
 * Fills host and nhost from advertise, a list separated by commas. "" is the listening address. If
 * that means all addresses, uses those of the interfaces and the host's name. ERR_INVALID, ERR_SYS.
 */
int hosts_to_advertise(const char *advertise, const char *listen, struct connstr *out,
		       struct err *e);

#endif
