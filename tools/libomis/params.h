/* SPDX-License-Identifier: Apache-2.0 */
/* The options of libomis in a tool's command line. */
#ifndef TOOLS_LIBOMIS_PARAMS_H
#define TOOLS_LIBOMIS_PARAMS_H

#include "common/base/clock.h"
#include "common/base/err.h"

#define PARAMS_TIMEOUT_NS (5 * NSEC_PER_SEC)

struct params {
	const char *mainsm; /* borrowed from argv; NULL = not given */
	nsec_t timeout;
};

/*
 * Removes --omis-mainsm STRING and --omis-timeout MS (also with '=') from argv, up to "--". NULL
 * pointers are an empty command line. ERR_INVALID: argv is unchanged.
 */
int params_take(struct params *p, int *argc, char ***argv, struct err *e);

#endif
