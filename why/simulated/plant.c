/* SPDX-License-Identifier: Apache-2.0 */
#include "why/simulated/plant.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/str.h"

static const struct {
	struct simulated_name name;
	enum why_class class;
} plants[SIMULATED_PLANTS] = {
	[SIMULATED_HEALTHY] = { { "healthy", WHY_IDS, WHY_IDS }, WHY_NXN },
	[SIMULATED_MORE_WORK] = { { "more-work", WHY_W1, WHY_C1 }, WHY_BARRIER },
	[SIMULATED_DESCHEDULED] = { { "descheduled", WHY_W2, WHY_C2 }, WHY_NXN },
	[SIMULATED_PAGING] = { { "paging", WHY_W2, WHY_C4 }, WHY_NXN },
	[SIMULATED_DISK] = { { "disk", WHY_W1, WHY_C5 }, WHY_BARRIER },
	[SIMULATED_SLOW_HOST] = { { "slow-host", WHY_W2, WHY_C3 }, WHY_NXN },
	[SIMULATED_LATE_ROOT] = { { "late-root", WHY_W3, WHY_C1 }, WHY_FROM_ROOT },
	[SIMULATED_LATE_SENDER] = { { "late-sender", WHY_W5, WHY_C1 }, WHY_RECEIVE },
	[SIMULATED_SLOW_COLLECTIVE] = { { "slow-collective", WHY_W7, WHY_IDS }, WHY_NXN },
	[SIMULATED_FILE] = { { "file", WHY_W15, WHY_IDS }, WHY_FILE },
	[SIMULATED_TWO] = { { "two", WHY_W1, WHY_C1 }, WHY_BARRIER },
};

const struct simulated_name *simulated_name(enum simulated_plant p)
{
	return &plants[p].name;
}

int simulated_parse(const char *name, enum simulated_plant *out, struct err *e)
{
	struct buf names = BUF_INIT(ERR_TEXT_BYTES);
	int rc;

	for (size_t i = 0; i < ARRAY_LEN(plants); i++) {
		if (str_eq(name, plants[i].name.name)) {
			*out = (enum simulated_plant)i;
			return 0;
		}
		buf_printf(&names, "%s%s", i ? ", " : "", plants[i].name.name);
	}
	rc = err_set(e, ERR_NOTFOUND, "%.20s is none of: %s", name, buf_str(&names));
	buf_done(&names);
	return rc;
}

enum why_class plant_class(enum simulated_plant p)
{
	return plants[p].class;
}

static bool is_active(const struct simulated *s)
{
	const struct simulated_conf *c = &s->conf;

	return s->blocks >= c->from && (!c->until || s->blocks < c->until);
}

bool plant_is_late(const struct simulated *s, size_t i)
{
	switch (s->conf.plant) {
	case SIMULATED_HEALTHY:
	case SIMULATED_SLOW_COLLECTIVE:
	case SIMULATED_FILE:
		return false;
	case SIMULATED_SLOW_HOST:
		return is_active(s) && s->rank[i].host == s->culprit;
	case SIMULATED_TWO:
		return is_active(s) && (i == s->culprit || i == (s->culprit + 1) % s->conf.ranks);
	default:
		return is_active(s) && i == s->culprit;
	}
}

double plant_excess(const struct simulated *s, size_t i)
{
	if (!plant_is_late(s, i))
		return 0;
	return s->conf.plant == SIMULATED_TWO && i != s->culprit ? s->late / 2 : s->late;
}

double plant_operation(const struct simulated *s)
{
	bool is_in_mpi =
		s->conf.plant == SIMULATED_SLOW_COLLECTIVE || s->conf.plant == SIMULATED_FILE;

	return is_in_mpi && is_active(s) ? s->late : 0;
}

void plant_explain(const struct simulated *s, struct why_rank *r, double seconds)
{
	switch (plants[s->conf.plant].name.cause) {
	case WHY_C2:
		r->figure[WHY_RUN_DELAY] += seconds;
		r->figure[WHY_COMPUTE] -= seconds;
		break;
	case WHY_C4:
		r->figure[WHY_FAULTS] += seconds / 1e-4;
		r->figure[WHY_BLOCK_DELAY] += seconds;
		r->figure[WHY_COMPUTE] -= seconds;
		break;
	case WHY_C5:
		r->figure[WHY_BLOCK_DELAY] += seconds;
		r->figure[WHY_COMPUTE] -= seconds;
		break;
	default:
		break;
	}
}
