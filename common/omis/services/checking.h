/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the check: its current position. */
#ifndef COMMON_OMIS_SERVICES_CHECKING_H
#define COMMON_OMIS_SERVICES_CHECKING_H

#include "common/omis/services/added.h"
#include "common/omis/services/catalogue.h"
#include "common/omis/services/check.h"
#include "common/omis/text/arena.h"
#include "common/omis/text/status.h"

struct checking {
	struct arena *arena; /* arena of the request */
	struct omis_diag *d; /* NULL: errors are not described */
	bool inner; /* internal services are permitted */
	const struct added_services *added; /* services of plug-ins; or NULL */
	/* event that provides context parameters for the actions; or NULL */
	const struct omis_service *event;
	const struct omis_call *call; /* the call that is being checked */
	unsigned action; /* number of the action, for d */
};

int check_call(struct checking *c, struct omis_call *call, bool as_event);

#endif
