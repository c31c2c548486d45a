/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of a tool, as far as it is libomis' own. */
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
 * Takes --omis-mainsm STRING and --omis-timeout MS (also with '=') out of
 * argv, up to "--". NULL pointers are an empty command line. ERR_INVALID: argv is as before.
 */
int params_take(struct params *p, int *argc, char ***argv, struct err *e);

#endif
