/* SPDX-License-Identifier: Apache-2.0 */
/* Goes into the lm of the test, in front of the functions that it wraps. */
#include "common/loop/loop.h"
#include "common/omis/reply/reply.h"
#include "lm/csr/csr_internal.h"
#include "lm/host/host.h"
#include "lm/hold/holds.h"
#include "tests/unit/sim/plant.h"

#include <string.h>

#define LEAKED_MAX 10000 /* of a world; more are freed */

void __real_reply_free(struct reply *r);
void __wrap_reply_free(struct reply *r);
void __real_loop_timer_arm(struct loop_timer *t, nsec_t after);
void __wrap_loop_timer_arm(struct loop_timer *t, nsec_t after);
void __real_csrs_tool_gone(struct csrs *s, uint32_t tool);
void __wrap_csrs_tool_gone(struct csrs *s, uint32_t tool);
int __real_host_proc_signal(struct host_proc *p, int sig, struct err *e);
int __wrap_host_proc_signal(struct host_proc *p, int sig, struct err *e);
void __real_holds_tool_gone(struct holds *s, uint32_t tool);
void __wrap_holds_tool_gone(struct holds *s, uint32_t tool);
void __real_csrs_disarm(struct csrs *s, const char *token);
void __wrap_csrs_disarm(struct csrs *s, const char *token);

void __wrap_loop_timer_arm(struct loop_timer *t, nsec_t after)
{
	if (!plant_shows(PLANT_LOST_WAKE_UP, 100))
		__real_loop_timer_arm(t, after);
}

/* They stay known here, so that a sanitizer finds only leaks that are not planted. */
static struct reply *leaked[LEAKED_MAX];
static unsigned nleaked;

void __wrap_reply_free(struct reply *r)
{
	if (r && nleaked < LEAKED_MAX && plant_shows(PLANT_LEAKED_REPLY, 3))
		leaked[nleaked++] = r;
	else
		__real_reply_free(r);
}

void __wrap_csrs_tool_gone(struct csrs *s, uint32_t tool)
{
	if (!plant_shows(PLANT_LEAKED_CSR, 3))
		__real_csrs_tool_gone(s, tool);
}

int __wrap_host_proc_signal(struct host_proc *p, int sig, struct err *e)
{
	if (plant_shows(PLANT_DOUBLED_ACTION, 3))
		__real_host_proc_signal(p, sig, NULL);
	return __real_host_proc_signal(p, sig, e);
}

void __wrap_holds_tool_gone(struct holds *s, uint32_t tool)
{
	if (!plant_shows(PLANT_FORGOTTEN_RELEASE, 3))
		__real_holds_tool_gone(s, tool);
}

void __wrap_csrs_disarm(struct csrs *s, const char *token)
{
	if (!plant_shows(PLANT_LEAKED_CSR, 3))
		__real_csrs_disarm(s, token);
}

struct csr *__real_csr_before(const struct csr *c);
struct csr *__wrap_csr_before(const struct csr *c);

static struct csr *same_token(const struct csr *c)
{
	list_each (i, &c->owner->all) {
		struct csr *other = list_entry(i, struct csr, link);

		if (other != c && !strcmp(other->token, c->token))
			return other;
	}
	return NULL;
}

/* The entry before a request is lost when that request exists. */
struct csr *__wrap_csr_before(const struct csr *c)
{
	struct csr *old = same_token(c);

	return old && list_is_empty(&c->link) && plant_shows(PLANT_NEW_BEFORE_OLD, 1)
		       ? old
		       : __real_csr_before(c);
}
