/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/netanalysis.h"

void netanalysis_done(struct netanalysis *a)
{
	netpath_done(&a->path);
	netspent_done(&a->spent);
}

/* Compares the times of the meters with those of the path, which must be equal. */
static int compare(const struct network *w, const struct netanalysis *a, struct err *e)
{
	bool is_same = a->meter.sum_response == (a->spent.is_member ? a->path.length : 0);

	for (unsigned i = 0; i < netuse_states(w->use) && a->spent.is_member; i++)
		is_same &= a->meter.sum_state[i] == a->spent.state[i];
	return is_same ? 0
		       : err_set(e, ERR_INTERNAL,
				 "the meters and the path of a network differ: a fault of Omig");
}

int netanalysis_run(const struct network *w, struct netanalysis *out, struct err *e)
{
	struct netanalysis a = { .meter = { 0 } };
	int rc = netpath_find(w, &a.path, e);

	rc = rc ? rc : netspent_find(w, &a.path, &a.spent, e);
	rc = rc ? rc : netmeter_run(&a.meter, w, e);
	rc = rc ? rc : compare(w, &a, e);
	if (rc)
		netanalysis_done(&a);
	else
		*out = a;
	return rc;
}
