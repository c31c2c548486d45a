/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/sort/evsort.h"

#include "common/base/array.h"
#include "eventlog/sort/evrun.h"
#include "eventlog/text/evtypes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An event in memory. Later events have higher offsets. */
struct place {
	nsec_t wall_ns;
	size_t at; /* offset in `events` */
};

/* A run with its next event. */
struct source {
	struct evrun run;
	struct evrun_head head;
	const uint8_t *record;
};

struct type {
	struct evtype *own, *of_stream; /* of_stream may be NULL */
};

struct evsort {
	const char *folder;
	size_t memory;
	uint64_t nevent;
	struct evtypes numbers;
	struct type *type; /* type number is at number - 1 */
	size_t ntype, type_cap;
	struct buf events; /* headers, each with its record */
	struct place *place;
	size_t nplace, place_cap, given;
	bool is_sorted;
	int fd; /* -1 = no temporary file yet */
	uint64_t end; /* end of the temporary file */
	uint64_t bound[EVSORT_RUNS_MAX + 1]; /* run i is from bound[i] to bound[i + 1] */
	size_t nrun;
	struct source *source; /* NULL: the merge has not begun */
	size_t *heap, nheap; /* indexes of sources; the source of the earliest event is first */
	struct evvalue value[EV_FIELDS_MAX];
};

struct evsort *evsort_new(const char *folder, size_t memory)
{
	struct evsort *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->folder = folder;
	s->memory = memory;
	s->events = BUF_INIT(memory + EVRUN_RECORD_MAX_BYTES + sizeof(struct evrun_head));
	s->fd = -1;
	evtypes_init(&s->numbers);
	return s;
}

void evsort_free(struct evsort *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->ntype; i++) {
		free(s->type[i].own);
		free(s->type[i].of_stream);
	}
	for (size_t i = 0; s->source && i < s->nrun; i++)
		evrun_done(&s->source[i].run);
	if (s->fd >= 0)
		close(s->fd);
	free(s->source);
	free(s->heap);
	free(s->type);
	free(s->place);
	buf_done(&s->events);
	evtypes_done(&s->numbers);
	free(s);
}

uint64_t evsort_events(const struct evsort *s)
{
	return s->nevent;
}

size_t evsort_runs(const struct evsort *s)
{
	return s->nrun;
}

/* --- types */

static int copy_type(const struct evtype *t, bool is_stream, struct evtype **out, struct err *e)
{
	struct buf b = BUF_INIT(2 * EV_RECORD_MAX_BYTES);
	unsigned number;
	int rc = evtype_encode(&b, is_stream ? 0 : 1, t, false, e);

	rc = rc ? rc : evtype_decode(buf_bytes(&b), false, &number, out, e);
	buf_done(&b);
	return rc;
}

static int keep_type(struct evsort *s, const struct event *ev, struct err *e)
{
	struct type t = { 0 };
	int rc;

	if (array_grow(&s->type, &s->type_cap, s->ntype + 1, sizeof(*s->type), EV_TYPE_LAST))
		return err_nomem(e);
	rc = copy_type(ev->type, false, &t.own, e);
	if (!rc && ev->stream_type)
		rc = copy_type(ev->stream_type, true, &t.of_stream, e);
	if (rc) {
		free(t.own);
		return rc;
	}
	s->type[s->ntype++] = t;
	return 0;
}

static int number_of(struct evsort *s, const struct event *ev, unsigned *out, struct err *e)
{
	bool is_new;
	int rc = evtypes_number(&s->numbers, ev, out, &is_new, e);

	return rc || !is_new ? rc : keep_type(s, ev, e);
}

/* --- memory */

static int by_time(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->wall_ns != y->wall_ns)
		return x->wall_ns < y->wall_ns ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Most logs are in order already, so that no sort is needed. */
static void sort_memory(struct evsort *s)
{
	for (size_t i = 1; i < s->nplace; i++)
		if (by_time(&s->place[i - 1], &s->place[i]) > 0) {
			qsort(s->place, s->nplace, sizeof(*s->place), by_time);
			break;
		}
	s->is_sorted = true;
}

static struct bytes stored(const struct evsort *s, size_t i)
{
	const uint8_t *p = s->events.p + s->place[i].at;
	struct evrun_head head;

	memcpy(&head, p, sizeof(head));
	return bytes_at(p, sizeof(head) + head.n);
}

static int write_sorted(struct evsort *s, struct err *e)
{
	struct buf out = BUF_INIT(s->events.n + 1);
	int rc = 0;

	for (size_t i = 0; !rc && i < s->nplace; i++) {
		struct bytes b = stored(s, i);

		if (out.n + b.n > EVBLOCK_MAX_BYTES) {
			rc = evrun_write(s->fd, &s->end, buf_bytes(&out), e);
			buf_clear(&out);
		}
		buf_put(&out, b.p, b.n);
	}
	if (!rc)
		rc = out.failed ? err_nomem(e) : evrun_write(s->fd, &s->end, buf_bytes(&out), e);
	buf_done(&out);
	return rc;
}

/* Moves all events in memory to the temporary file. */
static int spill(struct evsort *s, struct err *e)
{
	int rc = 0;

	if (s->nrun == EVSORT_RUNS_MAX)
		return err_set(e, ERR_LIMIT, "more events than %d x %zu MiB of memory can sort",
			       EVSORT_RUNS_MAX, s->memory >> 20);
	if (s->fd < 0)
		rc = evrun_file(s->folder, &s->fd, e);
	sort_memory(s);
	rc = rc ? rc : write_sorted(s, e);
	if (rc)
		return rc;
	s->bound[++s->nrun] = s->end;
	s->nplace = 0;
	s->is_sorted = false;
	buf_clear(&s->events);
	return 0;
}

static bool is_full(const struct evsort *s)
{
	return s->events.n + s->nplace * sizeof(*s->place) >= s->memory;
}

static int append(struct evsort *s, const struct event *ev, unsigned number, struct err *e)
{
	/*
	 * evtype_get_values() expects a record with a header. The time of this record is in its
	 * evrun_head.
	 */
	static const uint8_t record_head[EV_RECORD_HEAD_BYTES];
	struct evrun_head head = { ev->wall_ns, ev->stream, ev->number, ev->ticks, number, 0 };
	size_t at = s->events.n;

	if (array_grow(&s->place, &s->place_cap, s->nplace + 1, sizeof(*s->place),
		       SIZE_MAX / sizeof(*s->place)))
		return err_nomem(e);
	buf_put(&s->events, &head, sizeof(head));
	buf_put(&s->events, record_head, sizeof(record_head));
	evtype_put_values(&s->events, ev->value, ev->type->nfield, false);
	if (s->events.failed)
		return err_nomem(e);
	head.n = (uint32_t)(s->events.n - at - sizeof(head));
	memcpy(s->events.p + at, &head, sizeof(head));
	s->place[s->nplace++] = (struct place){ ev->wall_ns, at };
	return 0;
}

int evsort_put(struct evsort *s, const struct event *ev, struct err *e)
{
	unsigned number;
	int rc = is_full(s) ? spill(s, e) : 0;

	rc = rc ? rc : number_of(s, ev, &number, e);
	rc = rc ? rc : append(s, ev, number, e);
	s->nevent += !rc;
	return rc;
}

/* --- the merge */

static bool is_before(const struct evsort *s, size_t a, size_t b)
{
	nsec_t x = s->source[a].head.wall_ns, y = s->source[b].head.wall_ns;

	return x != y ? x < y : a < b;
}

static void sift_down(struct evsort *s, size_t i)
{
	size_t moved = s->heap[i];

	for (size_t child; (child = 2 * i + 1) < s->nheap; i = child) {
		if (child + 1 < s->nheap && is_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!is_before(s, s->heap[child], moved))
			break;
		s->heap[i] = s->heap[child];
	}
	s->heap[i] = moved;
}

static int begin_merge(struct evsort *s, struct err *e)
{
	int got = s->nplace ? spill(s, e) : 0;

	if (got)
		return got;
	buf_done(&s->events);
	s->source = calloc(s->nrun, sizeof(*s->source));
	s->heap = calloc(s->nrun, sizeof(*s->heap));
	if (!s->source || !s->heap)
		return err_nomem(e);
	for (size_t i = 0; i < s->nrun; i++) {
		struct source *from = &s->source[i];

		evrun_open(&from->run, s->fd, s->bound[i], s->bound[i + 1]);
		got = evrun_next(&from->run, &from->head, &from->record, e);
		if (got < 0)
			return got;
		if (got)
			s->heap[s->nheap++] = i;
	}
	for (size_t i = s->nheap / 2; i-- > 0;)
		sift_down(s, i);
	return 0;
}

static int give(struct evsort *s, const struct evrun_head *head, const uint8_t *record,
		struct event *out, struct err *e)
{
	const struct type *t = &s->type[head->type - 1];

	if (!evtype_get_values(t->own, record, head->n, false, s->value))
		return err_set(e, ERR_SYS, "the temporary file has changed");
	*out = (struct event){ .type = t->own,
			       .stream_type = t->of_stream,
			       .value = s->value,
			       .stream = head->stream,
			       .number = head->number,
			       .ticks = head->ticks,
			       .wall_ns = head->wall_ns };
	return 1;
}

static int next_in_memory(struct evsort *s, struct event *out, struct err *e)
{
	struct evrun_head head;
	struct bytes b;

	if (!s->is_sorted)
		sort_memory(s);
	if (s->given == s->nplace)
		return 0;
	b = stored(s, s->given++);
	memcpy(&head, b.p, sizeof(head));
	return give(s, &head, b.p + sizeof(head), out, e);
}

/*
 * Advances the source of the event that was returned last, whose record was valid until this call.
 */
static int advance(struct evsort *s, struct err *e)
{
	struct source *from = &s->source[s->heap[0]];
	int got = evrun_next(&from->run, &from->head, &from->record, e);

	if (got < 0)
		return got;
	if (!got)
		s->heap[0] = s->heap[--s->nheap];
	if (s->nheap)
		sift_down(s, 0);
	return 0;
}

int evsort_next(struct evsort *s, struct event *out, struct err *e)
{
	const struct source *first;
	int rc;

	if (!s->nrun)
		return next_in_memory(s, out, e);
	if (s->source && !s->nheap)
		return 0;
	rc = s->source ? advance(s, e) : begin_merge(s, e);
	if (rc || !s->nheap)
		return rc;
	first = &s->source[s->heap[0]];
	return give(s, &first->head, first->record, out, e);
}
