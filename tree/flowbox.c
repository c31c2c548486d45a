/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/flowbox.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/container/list.h"
#include "common/flow/batch/batch.h"
#include "common/flow/batch/rest.h"
#include "common/flow/graph/graph_limits.h"
#include "common/omis/text/token.h"

#include <stdlib.h>

#define FRAMES_MAX FLOW_READS_OPEN /* the parent accepts no older frames */
/* bytes of a frame for everything except batches, including lengths */
#define FRAME_REST_BYTES 4096
#define BATCH_BYTES 8 /* overhead of each batch */

struct frame {
	struct list link;
	uint64_t read;
	nsec_t time;
	char object[TOKEN_BYTES];
	struct buf bytes; /* all batches, one after the other */
	size_t *end; /* owned; end of each batch */
	size_t n, cap;
};

struct flowbox {
	struct flowbox_conf conf;
	struct list frames; /* the oldest first */
	size_t n;
	struct frame *open; /* owned; the frame that is being filled */
	struct flow_rest rest; /* links that share one entry */
	uint64_t dropped;
	uint64_t sent_frames, sent_bytes;
	struct bytes *batch; /* pointers to the batches of a frame that is sent */
	size_t batch_cap;
};

static void frame_free(struct frame *f)
{
	if (!f)
		return;
	buf_done(&f->bytes);
	free(f->end);
	free(f);
}

struct flowbox *flowbox_new(const struct flowbox_conf *c)
{
	struct flowbox *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->conf = *c;
	list_init(&b->frames);
	return b;
}

void flowbox_free(struct flowbox *b)
{
	if (!b)
		return;
	list_each_safe (i, &b->frames)
		frame_free(list_entry(i, struct frame, link));
	frame_free(b->open);
	free(b->batch);
	free(b);
}

struct flowbox_counts flowbox_counts(const struct flowbox *b)
{
	return (struct flowbox_counts){ b->sent_frames, b->sent_bytes, b->n };
}

void flowbox_add_dropped(struct flowbox *b, uint64_t frames)
{
	b->dropped += frames;
}

static void begin_frame(struct flowbox *b, uint64_t read, nsec_t time, const char *object)
{
	struct frame *f = calloc(1, sizeof(*f));

	frame_free(b->open);
	b->open = f;
	if (!f) {
		b->dropped++;
		return;
	}
	f->read = read;
	f->time = time;
	str_copy(f->object, sizeof(f->object), object);
	buf_init(&f->bytes, FRAME_MAX_BYTES);
}

void flowbox_begin(struct flowbox *b, uint64_t read, nsec_t time, const char *object)
{
	flow_rest_clear(&b->rest);
	begin_frame(b, read, time, object);
}

static void drop_oldest(struct flowbox *b)
{
	struct frame *f = list_entry(list_first(&b->frames), struct frame, link);

	list_del(&f->link);
	frame_free(f);
	b->n--;
	b->dropped++;
}

static void end_frame(struct flowbox *b)
{
	if (!b->open)
		return;
	while (b->n >= FRAMES_MAX)
		drop_oldest(b);
	list_push_back(&b->frames, &b->open->link);
	b->n++;
	b->open = NULL;
}

/* Ends the batch that began at `start` of f->bytes: makes it a part of the frame, or drops it. */
static void close_batch(struct flowbox *b, size_t start)
{
	struct frame *f = b->open;

	if (!f->bytes.failed &&
	    f->bytes.n + f->n * BATCH_BYTES <= FRAME_MAX_BYTES - FRAME_REST_BYTES &&
	    !array_grow(&f->end, &f->cap, f->n + 1, sizeof(*f->end), FLOW_NODES_MAX)) {
		f->end[f->n++] = f->bytes.n;
		return;
	}
	f->bytes.failed = false;
	f->bytes.n = start;
	b->dropped++;
}

/*
 * Returns the frame for another batch. A frame more than half full is closed: a batch that does not
 * fit in half a frame fits in none.
 */
static struct frame *room(struct flowbox *b)
{
	struct frame *f = b->open;

	if (f && (f->bytes.n > FRAME_MAX_BYTES / 2 || f->n == FLOW_NODES_MAX)) {
		char object[TOKEN_BYTES];
		uint64_t read = f->read;
		nsec_t time = f->time;

		str_copy(object, sizeof(object), f->object);
		end_frame(b);
		begin_frame(b, read, time, object);
	}
	return b->open;
}

static void put(void *arg, const struct flow_batch *batch)
{
	struct flowbox *b = arg;
	struct frame *f = room(b);
	size_t start = f ? f->bytes.n : 0;

	if (!f)
		return;
	flow_batch_encode(&f->bytes, batch);
	close_batch(b, start);
}

void flowbox_add(struct flowbox *b, const struct flow_batch *batch)
{
	if (!flow_rest_take(&b->rest, batch))
		put(b, batch);
}

/* Adds the rest last: it stands for the values without a batch. */
void flowbox_end(struct flowbox *b)
{
	flow_rest_give(&b->rest, put, b);
	end_frame(b);
}

void flowbox_add_bytes(struct flowbox *b, const void *p, size_t n)
{
	struct frame *f = room(b);
	size_t start = f ? f->bytes.n : 0;

	if (!f)
		return;
	buf_put(&f->bytes, p, n);
	close_batch(b, start);
}

static int send(struct flowbox *b, const struct frame *f)
{
	struct msg m = { .type = MSG_FLOW_BATCH,
			 .flow_batch = { .measurement = b->conf.measurement,
					 .read = f->read,
					 .time_ns = f->time,
					 .object = f->object,
					 .nbatch = f->n,
					 .dropped = b->dropped } };
	size_t at = 0;

	if (array_grow(&b->batch, &b->batch_cap, f->n + 1, sizeof(*b->batch), SIZE_MAX))
		return -ERR_NOMEM;
	for (size_t i = 0; i < f->n; i++) {
		b->batch[i] = (struct bytes){ f->bytes.p + at, f->end[i] - at };
		at = f->end[i];
	}
	m.flow_batch.batch = b->batch;
	return b->conf.send(b->conf.arg, &m);
}

void flowbox_flush(struct flowbox *b)
{
	while (b->n) {
		struct frame *f = list_entry(list_first(&b->frames), struct frame, link);

		if (send(b, f))
			return;
		b->dropped = 0;
		b->sent_frames++;
		b->sent_bytes += f->bytes.n;
		list_del(&f->link);
		frame_free(f);
		b->n--;
	}
}
