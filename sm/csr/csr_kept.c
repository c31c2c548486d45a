/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests of a subscription: there is one of each. A request of an earlier mainsm must
 * not be armed again beside its successor when hosts return.
 */
#include "common/base/str.h"
#include "sm/csr/csr_internal.h"

#include <string.h>

#define KEPT_PARAM 4

const char *site_csr_kept_of(const struct omis_request *r)
{
	const struct omis_call *event = r->event;

	if (!event || strcmp(event->name, "thread_writes_events") != 0 ||
	    event->nparam <= KEPT_PARAM)
		return "";
	return omis_value_text(&event->param[KEPT_PARAM], NULL);
}

void site_csr_take_place(struct site_csr *c, const char *kept)
{
	struct smap_iter i = { 0 };

	str_copy(c->kept, sizeof(c->kept), kept ? kept : "");
	while (c->kept[0] && smap_next(&c->a->by_token, &i)) {
		struct site_csr *other = i.value;

		if (other != c && str_eq(other->kept, c->kept) &&
		    str_eq(other->identity, c->identity))
			site_csr_end(other);
	}
}
