/* SPDX-License-Identifier: Apache-2.0 */
#include "common/route/event.h"

#include "common/base/array.h"
#include "common/cli/nearest.h"
#include "common/ring/calls.h"
#include "common/ring/seg.h"
#include "common/tracer/syscalls.h"

#include <signal.h>
#include <string.h>

#define SIGNAL_MAX 64

static const char *text_of(const struct omis_call *c, size_t i)
{
	const char *text = i < c->nparam ? omis_value_text(&c->param[i], NULL) : NULL;

	return text ? text : "";
}

/* Refuses an unknown name, and suggests the nearest known one. */
static int refuse_name(const char *what, const struct nearest *near, struct err *e)
{
	return err_set(e, ERR_INVALID, "'%.80s' is not a %s%s%s%s", near->name, what,
		       near->best ? "; did you mean '" : "", near->best ? near->best : "",
		       near->best ? "'?" : "");
}

static int check_call(const struct omis_call *event, struct err *e)
{
	struct nearest near = nearest_to(text_of(event, 1));

	if (call_find(near.name) >= 0)
		return 0;
	for (unsigned i = 0; i < call_count; i++)
		nearest_try(&near, call_table[i].name);
	return refuse_name("library call that can be watched", &near, e);
}

static int check_has_partner(const struct omis_call *event, struct err *e)
{
	const struct call_desc *d = call_get((unsigned)call_find(text_of(event, 1)));
	bool is_start = !strcmp(event->name, "patop_lib_call_started");

	if (!event->param[2].list.n || (is_start ? d->start_partner : d->end_partner))
		return 0;
	return err_set(e, ERR_INVALID,
		       "%s has no partner at its %s: leave the list of partners empty%s", d->name,
		       is_start ? "start" : "end",
		       !is_start && d->start_partner ? ", or wait for patop_lib_call_started"
		       : is_start && d->end_partner  ? ", or wait for patop_lib_call_ended"
						     : "");
}

static int check_patop(const struct omis_call *event, struct err *e)
{
	int rc = check_call(event, e);
	int64_t rank;

	if (!rc)
		rc = check_has_partner(event, e);
	if (rc)
		return rc;
	for (size_t i = 0; i < event->param[2].list.n; i++)
		if (omis_value_i64(&event->param[2].list.v[i], &rank) &&
		    (rank < 0 || rank > INT32_MAX))
			return err_set(e, ERR_INVALID, "partner %zu is not a rank", i + 1);
	if (event->nparam > 3 && event->param[3].list.n)
		return err_set(
			e, ERR_INVALID,
			"events cannot be distinguished by code regions: leave the list empty, or "
			"measure the region (dfg_create)");
	return 0;
}

static int check_syscall(const struct omis_call *event, struct err *e)
{
	struct nearest near = nearest_to(text_of(event, 1));
	int64_t number;

	if (!syscall_read(near.name, &number))
		return 0;
	for (const struct syscall_name *s = syscall_names; s->name; s++)
		nearest_try(&near, s->name);
	return refuse_name("system call of this machine", &near, e);
}

static int check_signals(const struct omis_call *event, struct err *e)
{
	const struct omis_value *list = &event->param[1];
	bool is_seen = list->list.n == 0;
	int64_t sig;

	for (size_t i = 0; i < list->list.n; i++) {
		sig = 0;
		omis_value_i64(&list->list.v[i], &sig);
		if (sig < 1 || sig > SIGNAL_MAX)
			return err_set(e, ERR_INVALID,
				       "there is no signal %lld: they are numbered from 1 to %d",
				       (long long)sig, SIGNAL_MAX);
		is_seen |= sig != SIGKILL;
	}
	if (is_seen)
		return 0;
	return err_set(
		e, ERR_INVALID,
		"no thread receives signal %d, it ends the process: wait for proc_has_terminated",
		SIGKILL);
}

static int check_address(const struct omis_call *event, struct err *e)
{
	int64_t addr = 0;

	omis_value_i64(&event->param[1], &addr);
	return addr ? 0 : err_set(e, ERR_INVALID, "no thread ever executes address 0");
}

static int check_probe(const struct omis_call *event, struct err *e)
{
	size_t n = strlen(text_of(event, 1));

	if (n && n < SEG_PROBE_NAME_BYTES)
		return 0;
	return err_set(e, ERR_INVALID, "a probe has a name of 1 to %d bytes",
		       SEG_PROBE_NAME_BYTES - 1);
}

static const struct {
	const char *service;
	int (*check)(const struct omis_call *event, struct err *e);
} checks[] = {
	{ "patop_lib_call_ended", check_patop },
	{ "patop_lib_call_started", check_patop },
	{ "thread_executes_probe", check_probe },
	{ "thread_has_ended_lib_call", check_call },
	{ "thread_has_ended_sys_call", check_syscall },
	{ "thread_has_started_lib_call", check_call },
	{ "thread_has_started_sys_call", check_syscall },
	{ "thread_reached_addr", check_address },
	{ "thread_received_signal", check_signals },
};

int event_check(const struct omis_call *event, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		if (!strcmp(checks[i].service, event->name))
			return checks[i].check(event, e);
	return 0;
}
