/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/app/interaction.h"

#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/hash.h"
#include "eventlog/app/event.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 256
#define OBJECT_BYTES 202 /* a mark, a name and a 0 */

/* The first call registers these types, so that other programs with events do not have them. */
#undef OMIG_EVENT_KNOWN
#define OMIG_EVENT_KNOWN(id)

OMIG_EVENT(source_event, "interaction.source", OMIG_INFO, (int64, st), (string, i), (string, trace))
OMIG_EVENT(fork_event, "interaction.fork", OMIG_INFO, (int64, st), (int64, new), (string, via))
OMIG_EVENT(join_event, "interaction.join", OMIG_INFO, (int64, st), (int64, with))
OMIG_EVENT(simple_event, "interaction.simple", OMIG_INFO, (int64, st), (string, use),
	   (int32, blocks))
OMIG_EVENT(sink_event, "interaction.sink", OMIG_INFO, (int64, st))

/* The only TLS model for a library that may be loaded anywhere (event.h). */
#define IN_THREAD static _Thread_local __attribute__((tls_model("initial-exec")))
IN_THREAD struct omig_task here;
IN_THREAD uint64_t seed; /* for the ids that this thread makes; 0: not drawn yet */

static void register_all(void)
{
	static struct omig_event *const all[] = { &source_event, &fork_event, &join_event,
						  &simple_event, &sink_event };
	static int is_done;

	if (__atomic_load_n(&is_done, __ATOMIC_ACQUIRE))
		return;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		omig_event_register(all[i]);
	__atomic_store_n(&is_done, 1, __ATOMIC_RELEASE);
}

/* Converts an id to the signed numbers of event logs. */
static int64_t logged(uint64_t task)
{
	return (int64_t)(task & INT64_MAX);
}

/* Draws a seed from time, process and stack, which differ between threads and processes. */
static uint64_t draw(void)
{
	uint64_t id;

	if (!seed)
		seed = hash_mix64((uint64_t)clock_wall() ^ (uint64_t)getpid() << 40) ^
		       hash_mix64((uint64_t)clock_mono() + (uintptr_t)&seed);
	do
		id = hash_mix64(++seed);
	while (!logged(id));
	return id;
}

static bool is_same(struct omig_task a, struct omig_task b)
{
	return a.high == b.high && a.low == b.low;
}

void omig_interaction_source(const char *name)
{
	char text[NAME_BYTES], trace[33];

	register_all();
	omig_interaction_sink();
	if (!omig_event_is_on(source_event))
		return;
	here = (struct omig_task){ draw(), draw(), logged(draw()) };
	snprintf(text, sizeof(text), "%s", name ? name : "");
	snprintf(trace, sizeof(trace), "%016" PRIx64 "%016" PRIx64, here.high, here.low);
	omig_event(source_event, logged(here.task), text, trace);
}

struct omig_task omig_interaction_fork(enum omig_by by)
{
	struct omig_task t = here;

	if (!here.task)
		return (struct omig_task){ 0 };
	t.task = (uint64_t)logged(draw());
	omig_event(fork_event, logged(here.task), logged(t.task),
		   by == OMIG_BY_MESSAGE ? "message" : "thread");
	return t;
}

void omig_interaction_wait(void)
{
	if (here.task)
		omig_event(simple_event, logged(here.task), "", 1);
}

void omig_interaction_join(struct omig_task t)
{
	if (here.task && t.task && is_same(here, t))
		omig_event(join_event, logged(here.task), logged(t.task));
}

void omig_interaction_receive(struct omig_task t)
{
	if (here.task && t.task && is_same(here, t))
		omig_interaction_join(t);
	else
		omig_interaction_attach(t);
}

void omig_interaction_sink(void)
{
	if (!here.task)
		return;
	omig_event(sink_event, logged(here.task));
	here = (struct omig_task){ 0 };
}

struct omig_task omig_interaction_detach(void)
{
	struct omig_task t = here;

	here = (struct omig_task){ 0 };
	return t;
}

void omig_interaction_attach(struct omig_task t)
{
	if (!t.task)
		return;
	register_all();
	omig_interaction_sink();
	here = t;
	omig_event(simple_event, logged(here.task), "", 0);
}

/* --- objects */

static void use(char sign, const char *object)
{
	char text[OBJECT_BYTES];
	size_t n;

	if (!here.task || !object)
		return;
	n = strnlen(object, sizeof(text));
	if (!n || n > sizeof(text) - 2 || object[strcspn(object, " ,")])
		return;
	text[0] = sign;
	memcpy(text + 1, object, n + 1);
	omig_event(simple_event, logged(here.task), text, 0);
}

void omig_interaction_begin_use(const char *object)
{
	use('+', object);
}

void omig_interaction_end_use(const char *object)
{
	use('-', object);
}

/* --- traceparent: 00-TRACE-PARENT-FLAGS */

void omig_interaction_export(struct omig_task t, char out[OMIG_TRACEPARENT_BYTES])
{
	out[0] = '\0';
	if (t.task)
		snprintf(out, OMIG_TRACEPARENT_BYTES,
			 "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-01", t.high, t.low,
			 t.task);
}

/* Reads lower-case hexadecimal digits only. */
static bool read_hex(const char *s, unsigned n, uint64_t *out)
{
	*out = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned digit = s[i] >= '0' && s[i] <= '9'   ? (unsigned)(s[i] - '0')
				 : s[i] >= 'a' && s[i] <= 'f' ? (unsigned)(s[i] - 'a') + 10
							      : 16;

		if (digit > 15)
			return false;
		*out = *out << 4 | digit;
	}
	return true;
}

/* True if the text has the right form. In a later version, further parts may follow a dash. */
static bool has_form(const char *s)
{
	uint64_t version, flags;
	size_t n = strnlen(s, OMIG_TRACEPARENT_BYTES);

	if (n < 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' || !read_hex(s, 2, &version) ||
	    !read_hex(s + 53, 2, &flags) || version == 0xff)
		return false;
	return n == 55 || (version && s[55] == '-');
}

struct omig_task omig_interaction_import(const char *traceparent)
{
	struct omig_task t;

	if (!traceparent || !has_form(traceparent) || !read_hex(traceparent + 3, 16, &t.high) ||
	    !read_hex(traceparent + 19, 16, &t.low) || !read_hex(traceparent + 36, 16, &t.task) ||
	    !(t.high | t.low) || !logged(t.task))
		return (struct omig_task){ 0 };
	return t;
}
