/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/enter.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "tracer/enter_internal.h"
#include "tracer/freeze.h"
#include "tracer/gate/build.h"
#include "tracer/gate/code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGES_MAX_NS NSEC_PER_SEC
#define PAUSE_MIN_US 50
#define PAUSE_MAX_US 5000

/* One request, from outside to inside. */
struct entry {
	struct tracees *tracees;
	const struct who *who;
	const struct enter_conf *conf;
	struct call_ways ways;
	struct image *image; /* owned */
	struct gate *gate; /* owned: the contents, as they are or will be */
	struct enter_life life; /* of what was read; a new program makes all of it invalid */
	int mem; /* its memory as a file; -1 */
	uint64_t asked; /* the place of pages that may have been made */
	uint64_t base; /* 0: there is no gate yet */
	bool is_new; /* the whole gate is written */
	bool is_bare; /* its pages were mapped by this request: no thread is inside */
	bool has_code; /* these have their code */
	struct freeze *freeze;
};

static void forget_life(struct entry *n)
{
	image_free(n->image);
	n->image = NULL;
	n->asked = n->base = 0;
	n->is_bare = n->has_code = false;
	if (n->mem >= 0)
		close(n->mem);
	n->mem = -1;
}

static void entry_done(struct entry *n)
{
	forget_life(n);
	free(n->gate);
}

/* All that is known of the program's memory belongs to one life of it. */
static int have_life(struct entry *n, struct err *e)
{
	char path[32];
	int rc;

	if (n->mem >= 0 && !enter_check_life(n->who->pid, &n->life, NULL))
		return 0;
	forget_life(n);
	rc = enter_read_life(n->who->pid, &n->life, e);
	if (rc)
		return rc;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)n->who->pid);
	n->mem = open(path, O_RDWR | O_CLOEXEC);
	if (n->mem < 0)
		return err_set(e, ERR_DENIED, "the kernel does not let us write to process %d: %s",
			       (int)n->who->pid, strerror(errno));
	return enter_check_life(n->who->pid, &n->life, e);
}

static int make_pages(struct entry *n, struct err *e)
{
	return enter_make_pages(n->freeze, &n->ways, n->asked, &n->base, e);
}

/*
 * No slot leads there yet, so the program may run meanwhile. Some kernels permit it to the tracer
 * of a stopped process only.
 */
static int write_code(struct entry *n, struct err *e)
{
	uint8_t *code = malloc(GATE_CODE_BYTES);
	size_t used = 0;
	int rc = code ? code_write(code, n->gate->nname, &used, e) : err_nomem(e);

	if (!rc)
		rc = enter_poke(n->mem, n->base, code, used, e);
	free(code);
	n->has_code = !rc;
	return rc;
}

/* All but the slots. */
static int write_gate(struct entry *n, struct err *e)
{
	const struct gate *g = n->gate;
	const uint8_t *from = (const uint8_t *)g;
	uint64_t at = n->base + GATE_CODE_BYTES;
	int rc = enter_poke(n->mem, at, g,
			    offsetof(struct gate, name) + g->nname * sizeof(g->name[0]), e);

	return rc ? rc
		  : enter_poke(n->mem, at + offsetof(struct gate, text),
			       from + offsetof(struct gate, text), g->ntext, e);
}

/* The list of slots is whole before the first of them is turned. */
static int write_slots(struct entry *n, struct err *e)
{
	const struct gate *g = n->gate;
	uint64_t at = n->base + GATE_CODE_BYTES;
	int rc = enter_poke(n->mem, at + offsetof(struct gate, slot), g->slot,
			    g->nslot * sizeof(g->slot[0]), e);

	return rc ? rc
		  : enter_poke(n->mem, at + offsetof(struct gate, nslot), &g->nslot,
			       sizeof(g->nslot), e);
}

/* Reads all slots at once, or each alone if some are unmapped: these get the value 0. */
static void read_slots(const struct image *m, uint64_t *value)
{
	uint64_t *at = value + m->nslot;

	for (size_t i = 0; i < m->nslot; i++)
		at[i] = m->slot[i].address;
	if (image_peek_each(m->pid, at, m->nslot, sizeof(*value), value))
		return;
	for (size_t i = 0; i < m->nslot; i++)
		if (image_peek(m->pid, at[i], &value[i], sizeof(*value), NULL))
			value[i] = 0;
}

/* Slots whose contents have changed since the image was read are left out: the next time. */
static int choose_slots(struct entry *n, struct err *e)
{
	const struct image *m = n->image;
	uint64_t *now = calloc(2 * m->nslot + 1, sizeof(*now));

	if (!now)
		return err_nomem(e);
	read_slots(m, now);
	for (size_t i = 0; i < m->nslot; i++) {
		const struct image_slot *s = &m->slot[i];
		int name = gate_find(n->gate, m->name[s->name].text);

		if (name >= 0 && now[i] &&
		    (now[i] == s->value || now[i] == m->name[s->name].address))
			build_add_slot(n->gate, &(struct gate_slot){ s->address, now[i],
								     (uint32_t)name, 0 });
	}
	free(now);
	return 0;
}

static int turn_slots(struct entry *n, size_t first, struct err *e)
{
	int rc = 0;

	for (size_t i = first; !rc && i < n->gate->nslot; i++) {
		const struct gate_slot *s = &n->gate->slot[i];
		uint64_t to = code_entry(n->base, s->name);

		rc = freeze_write(n->freeze, s->address, &to, sizeof(to), e);
	}
	return rc;
}

static int build(struct entry *n, struct err *e)
{
	const struct build_conf c = { n->base,	     enter_inner_pid(n->who), n->conf->library,
				      n->conf->conn, n->conf->runtime,	      n->conf->host };

	return build_gate(n->image, &c, n->gate, e);
}

static int arm_frozen(struct entry *n, struct err *e)
{
	size_t first = n->gate->nslot;
	int rc = 0;

	if (!image_is_current(n->image))
		return err_set(e, ERR_AGAIN, "the program is loading a library");
	if (n->is_new && enter_is_inside(n->freeze, n->base))
		return err_set(e, ERR_AGAIN, "a thread is inside of the gate");
	if (n->is_bare && !n->has_code)
		rc = write_code(n, e);
	if (!rc && n->is_new && !n->is_bare)
		rc = write_gate(n, e);
	if (rc)
		return rc;
	rc = choose_slots(n, e);
	if (!rc)
		rc = write_slots(n, e);
	return rc ? rc : turn_slots(n, first, e);
}

/* An invalid gate is none: the memory of it is read before it is examined. */
static void find_gate(struct entry *n)
{
	bool found = enter_find_gate(n->who->pid, n->gate, &n->base);

	if (!found)
		memset(n->gate, 0, sizeof(*n->gate));
	if (!found && !n->is_bare)
		n->base = 0;
	n->is_bare = n->is_bare && !found;
	n->is_new = !found || n->gate->state >= GATE_FAILED;
}

/* A repeated attempt reads the program again only if its libraries have changed. */
static int read_program(struct entry *n, struct err *e)
{
	int rc;

	if (n->image && image_is_current(n->image))
		return 0;
	image_free(n->image);
	n->image = NULL;
	rc = call_find_ways(n->who->pid, &n->ways, e);
	return rc ? rc : image_read(n->who->pid, n->base, &n->image, e);
}

/* A gate that is in use only gets further slots. */
static int prepare(struct entry *n, struct err *e)
{
	int rc = enter_check_program(n->who, n->conf->library, e);

	rc = rc ? rc : have_life(n, e);
	if (rc)
		return rc;
	find_gate(n);
	if (n->base && n->gate->nname && enter_is_inherited(n->who, n->gate))
		return err_set(e, ERR_UNSUPPORTED,
			       "it is a child process of one that was attached: calls of a process "
			       "that was forked from a rank are not watched");
	if (!n->is_new && enter_is_of_other(n->gate, n->conf))
		return err_set(e, ERR_EXISTS,
			       "it is watched already by the lm of %s%s: omig detach ends that",
			       n->gate->host,
			       str_eq(n->gate->conn, n->conf->conn) ? "" : " of another monitor");
	rc = read_program(n, e);
	if (rc)
		return rc;
	if (!n->base && n->image->has_libomig)
		return err_set(e, ERR_UNSUPPORTED,
			       "libomig is in the program already: it was started watched, by "
			       "another monitor or with OMIG_DISABLE");
	if (n->is_new && !n->image->nslot && !n->gate->nslot)
		return err_set(e, ERR_UNSUPPORTED,
			       "its calls do not go to the MPI library by slots that can be "
			       "turned: MPI is linked into the program, or it calls by pointers. "
			       "Link it dynamically, or with -lomig");
	return 0;
}

static void fill_result(const struct entry *n, struct enter_result *out)
{
	out->state = n->gate->state;
	out->slots = n->gate->nslot;
	out->skipped = n->image ? n->image->nskipped : 0;
	memcpy(out->why, n->gate->why, sizeof(out->why));
	out->why[sizeof(out->why) - 1] = 0;
	if (out->state == GATE_ARMED && enter_is_stopped(n->who))
		snprintf(out->why, sizeof(out->why),
			 "it is stopped, and watched after it continues: kill -CONT %d",
			 (int)n->who->pid);
	if (out->state == GATE_FAILED && !out->why[0])
		str_copy(out->why, sizeof(out->why), "its loader refuses libomig without a reason");
}

static int while_frozen(struct entry *n, int (*fn)(struct entry *, struct err *), nsec_t *stopped,
			struct err *e)
{
	nsec_t took;
	int rc = freeze_begin(n->tracees, n->who, &n->freeze, e);

	if (rc)
		return rc;
	if (n->mem >= 0)
		rc = enter_check_life(n->who->pid, &n->life, e);
	if (!rc)
		rc = fn(n, e);
	took = freeze_end(n->freeze);
	if (took > *stopped)
		*stopped = took;
	return rc;
}

/* A thread of the program makes them. It may wait for a processor. */
static int await_pages(struct entry *n, struct err *e)
{
	nsec_t end = clock_mono() + PAGES_MAX_NS;
	useconds_t pause = PAUSE_MIN_US;

	while (!enter_has_pages(n->who->pid, n->asked)) {
		if (enter_has_ended(n->who))
			return err_set(e, ERR_NOTFOUND, "the process has ended");
		if (clock_mono() > end)
			return err_set(e, ERR_TIMEOUT, "the program gets no processor");
		usleep(pause);
		pause = pause < PAUSE_MAX_US ? 2 * pause : pause;
	}
	n->base = n->asked;
	return 0;
}

/* Those that an earlier attempt asked for may have come. */
static int have_pages(struct entry *n, nsec_t *stopped, struct err *e)
{
	int rc;

	if (enter_has_pages(n->who->pid, n->asked)) {
		n->base = n->asked;
		return 0;
	}
	n->asked = enter_find_place(n->who->pid, n->ways.syscall);
	rc = while_frozen(n, make_pages, stopped, e);
	return rc || n->base ? rc : await_pages(n, e);
}

/* Makes the pages of a gate, if there is none, and fills them. */
static int raise_gate(struct entry *n, nsec_t *stopped, struct err *e)
{
	int rc = 0;

	n->is_bare = n->is_bare || !n->base;
	if (!n->base)
		rc = have_pages(n, stopped, e);
	if (!rc)
		rc = build(n, e);
	if (rc || !n->is_bare)
		return rc;
	write_code(n, NULL);
	return write_gate(n, e);
}

static int try_arm(struct entry *n, struct enter_result *out, struct err *e)
{
	int rc;

	free(n->gate);
	n->gate = calloc(1, sizeof(*n->gate));
	rc = n->gate ? prepare(n, e) : err_nomem(e);
	if (!rc && n->base && n->gate->state == GATE_ENTERING) {
		fill_result(n, out);
		return 0;
	}
	if (!rc && n->is_new)
		rc = raise_gate(n, &out->stopped, e);
	if (!rc)
		rc = while_frozen(n, arm_frozen, &out->stopped, e);
	if (!rc)
		fill_result(n, out);
	else if (n->mem >= 0 && enter_check_life(n->who->pid, &n->life, e))
		rc = -ERR_AGAIN;
	return rc;
}

static int repeat(struct entry *n, int (*fn)(struct entry *, struct enter_result *, struct err *),
		  struct enter_result *out, struct err *e)
{
	nsec_t until = clock_mono() + ENTER_MAX_NS;
	int rc = fn(n, out, e);

	for (int i = 1; freeze_is_transient(rc) && i < ENTER_TRIES && clock_mono() < until; i++) {
		usleep(ENTER_PAUSE_US);
		rc = fn(n, out, e);
	}
	return rc;
}

int enter_arm(struct tracees *s, const struct who *w, const struct enter_conf *c,
	      struct enter_result *out, struct err *e)
{
	struct entry n = { .tracees = s, .who = w, .conf = c, .mem = -1 };
	int rc = who_check(w, e);

	*out = (struct enter_result){ 0 };
	if (!rc)
		rc = repeat(&n, try_arm, out, e);
	if (rc && enter_has_ended(w))
		rc = err_set(e, ERR_NOTFOUND, "the process has ended");
	entry_done(&n);
	return rc;
}

/* Only what leads to the gate is restored: memory may have been unmapped, or belong to others. */
static int leave_frozen(struct entry *n, struct err *e)
{
	struct gate *g = n->gate;
	uint64_t at;
	int rc = 0;

	if (!enter_find_gate(n->who->pid, g, &n->base))
		return err_set(e, ERR_NOTFOUND, "the process was not attached");
	if (g->state == GATE_ENTERING)
		return err_set(e, ERR_AGAIN, "libomig is being loaded");
	for (unsigned i = 0; !rc && i < g->nslot; i++) {
		const struct gate_slot *s = &g->slot[i];
		uint64_t now = 0;

		if (!freeze_read(n->freeze, s->address, &now, sizeof(now), NULL) &&
		    now == code_entry(n->base, s->name))
			rc = freeze_write(n->freeze, s->address, &s->before, sizeof(s->before), e);
	}
	at = n->base + GATE_CODE_BYTES;
	if (!rc && g->nname)
		rc = freeze_write(n->freeze, at + offsetof(struct gate, target), g->original,
				  g->nname * sizeof(g->original[0]), e);
	g->state = GATE_CLOSED;
	g->nslot = 0;
	if (!rc)
		rc = freeze_write(n->freeze, at + offsetof(struct gate, nslot), &g->nslot,
				  sizeof(g->nslot), e);
	return rc ? rc : freeze_write(n->freeze, at, &g->state, sizeof(g->state), e);
}

static int try_leave(struct entry *n, struct enter_result *out, struct err *e)
{
	return while_frozen(n, leave_frozen, &out->stopped, e);
}

/* Reads the gate that a process must have. */
static int open_entry(struct entry *n, struct err *e)
{
	int rc = who_check(n->who, e);

	n->gate = calloc(1, sizeof(*n->gate));
	if (!rc && !n->gate)
		rc = err_nomem(e);
	if (!rc && (!enter_find_gate(n->who->pid, n->gate, &n->base) ||
		    enter_is_inherited(n->who, n->gate)))
		rc = err_set(e, ERR_NOTFOUND, "the process was not attached");
	return rc;
}

int enter_leave(struct tracees *s, const struct who *w, struct enter_result *out, struct err *e)
{
	struct entry n = { .tracees = s, .who = w, .mem = -1 };
	int rc = open_entry(&n, e);

	*out = (struct enter_result){ 0 };
	if (!rc)
		rc = repeat(&n, try_leave, out, e);
	if (!rc)
		fill_result(&n, out);
	entry_done(&n);
	return rc;
}

int enter_look(const struct who *w, struct enter_result *out, struct err *e)
{
	struct entry n = { .who = w, .mem = -1 };
	int rc = open_entry(&n, e);

	*out = (struct enter_result){ 0 };
	if (!rc)
		fill_result(&n, out);
	entry_done(&n);
	return rc;
}
