/* SPDX-License-Identifier: Apache-2.0 */
/* The end of an lm that has no process to watch. */
#include "common/base/log.h"
#include "lm/attach/registration.h"
#include "lm/lm_internal.h"

bool lm_has_lingered(const struct lm *m)
{
	return m->has_lingered;
}

bool lm_is_wanted(struct lm *m)
{
	registration_take_waiting(m->registration);
	if (procs_alive(m->procs))
		log_notice("lm",
			   "processes have registered meanwhile: the next lm takes them over");
	return procs_alive(m->procs) != 0;
}

void lm_withdraw(struct lm *m)
{
	registration_withdraw(m->registration);
}

int lm_pass_socket(struct lm *m)
{
	return registration_pass(m->registration);
}
