/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the check: its current position. */
#ifndef COMMON_OMIS_SERVICES_CHECKING_H
#define COMMON_OMIS_SERVICES_CHECKING_H

#include "common/omis/services/added.h"
#include "common/omis/services/catalogue.h"
#include "common/omis/services/check.h"
#include "common/omis/text/arena.h"
#include "common/omis/text/status.h"

struct checking {
	struct arena *arena; /* of the request */
	struct omis_diag *d; /* or NULL */
	bool inner; /* internal services are known */
	const struct added_services *added; /* of plug-ins; or NULL */
	/* event that provides context parameters to the actions; or NULL */
	const struct omis_service *event;
	const struct omis_call *call; /* the one being checked */
	unsigned action; /* for d */
};

int check_call(struct checking *c, struct omis_call *call, bool as_event);

#endif
