/* SPDX-License-Identifier: Apache-2.0 */
/* Under which names and addresses others reach us. */
#ifndef MAINSM_HOSTS_H
#define MAINSM_HOSTS_H

#include "common/link/connstr.h"

/*
 * advertise: a list by commas. "" is the listening address itself. Where that means all addresses,
 * it is those of the interfaces and the host's name. Fills host and nhost. ERR_INVALID, ERR_SYS.
 */
int hosts_to_advertise(const char *advertise, const char *listen, struct connstr *out,
		       struct err *e);

#endif
