/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of conditional requests, and lost events. DISABLED and DELETED are the last
 * notifications. They come behind the pending actions, with the number of lost events, those that
 * branches had counted included.
 */
#include "mainsm/csr/csr.h"

#include "common/base/str.h"
#include "mainsm/csr/csr_internal.h"

static bool owes_disabled(const struct tool_csr *csr)
{
	return csr->state == CSR_DISABLING || csr->state == CSR_LEAVING;
}

void tool_csr_report_disabled(struct tool_csr *csr, bool now)
{
	if (!owes_disabled(csr) || (!now && (csr->firings || parting_is_open(&csr->parting))))
		return;
	tool_csr_step(csr, CSR_REPORT);
	tool_csr_report(csr, STATUS_CSR_DISABLED, NULL, csr->why, NULL);
}

void tool_csr_parted(void *arg)
{
	struct tool_csr *csr = arg;
	struct list parted;

	list_init(&parted);
	list_splice_back(&parted, &csr->parted);
	csr->keepers++;
	tool_csr_report_disabled(csr, false);
	tool_csr_let_go(csr); /* the last notification precedes the answers of the waiters */
	tool_csr_call_waiters(&parted, NULL);
}

void tool_csr_check_parted(struct tool_csr *csr)
{
	if (!parting_is_open(&csr->parting))
		tool_csr_parted(csr);
}

struct tool_csr *tool_csrs_find_any(struct tool_csrs *c, const char *token)
{
	struct tool_csr *csr = smap_find(&c->by_token, token);

	list_each (i, &c->partings.all) {
		struct tool_csr *other = list_entry(i, struct tool_csr, parting.in_all);

		if (!csr && str_eq(other->token.s, token))
			csr = other;
	}
	return csr;
}

/* --- losses */

void tool_csr_lose(struct tool_csr *csr, uint64_t n)
{
	csr->dropped += parting_bounded(n);
	if (n && !loop_timer_is_armed(csr->c->losses))
		loop_timer_arm(csr->c->losses, CSR_LOSSES_NS);
}

/* Reports losses in a message of a firing, without actions and objects. */
static void report_losses(struct tool_csr *csr)
{
	tool_csr_report(csr, STATUS_CSR_TRIGGERED, NULL, "", NULL);
}

void tool_csrs_on_losses(void *arg)
{
	struct tool_csrs *c = arg;
	struct smap_iter i = { 0 };
	bool is_left = false;

	while (smap_next(&c->by_token, &i)) {
		struct tool_csr *csr = i.value;

		if (csr->dropped && !csr->has_reported && !owes_disabled(csr))
			report_losses(csr);
		csr->has_reported = false;
		is_left |= csr->dropped > 0;
	}
	if (is_left)
		loop_timer_arm(c->losses, CSR_LOSSES_NS);
}

int tool_csrs_losses(struct tool_csrs *c, uint32_t branch, const struct msg_losses *m,
		     struct err *e)
{
	struct tool_csr *csr = tool_csrs_find_any(c, m->csr);

	if (!csr ||
	    (!standing_find(csr->standing, branch) && !parting_awaits(&csr->parting, branch)))
		return err_set(e, ERR_NOTFOUND, "nothing is armed there");
	tool_csr_lose(csr, m->dropped);
	if (m->is_last)
		parting_answered(&csr->parting, branch);
	return 0;
}
