/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summaries of transfers: bytes read and written on disk and network with their times, by transfer
 * and kind of work. From the summaries of both ends it finds the slowest of the four kinds.
 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "eventlog/netlogger/nlog.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TRANSFERS_MAX 4096 /* transfers that are stored at once */
#define OPEN_MAX 64 /* unfinished pieces of work of one transfer */
#define SAME_PERCENT 10 /* two rates count as equal if they differ by less */
#define RESULT_BYTES 512

static const char *const ops[] = { "disk.read", "disk.write", "net.read", "net.write" };
#define NOPS 4

struct work {
	int op, stream, block;
	nsec_t began;
};

struct transfer {
	struct transfer *next;
	char *id;
	uint64_t count[NOPS];
	double bytes[NOPS], seconds[NOPS];
	struct work open[OPEN_MAX];
	unsigned nopen;
	nsec_t written; /* time at which its summary was last written */
};

struct omig_nlsumm {
	struct inproc_lock lock;
	struct transfer *first;
	unsigned n;
	NL_log_T output; /* borrowed; NULL = none */
	nsec_t interval; /* <= 0: writes only at the end */
	int level;
	bool is_passed_through;
};

NL_summ_T NL_summ(void)
{
	struct omig_nlsumm *s = calloc(1, sizeof(*s));

	if (s)
		pthread_mutex_init(&s->lock.mutex, NULL);
	return s;
}

int NL_summ_set_shared_output(NL_summ_T summ, NL_log_T log)
{
	if (!summ)
		return -1;
	summ->output = log;
	return 0;
}

int NL_summ_add_log(NL_summ_T summ, NL_log_T log)
{
	if (!summ || !log)
		return -1;
	inproc_lock(&log->lock);
	log->summ = summ;
	inproc_unlock(&log->lock);
	return 0;
}

int NL_transfer_init(NL_summ_T summ, int interval_us, int level)
{
	if (!summ)
		return -1;
	summ->interval = interval_us * NSEC_PER_USEC;
	summ->level = level;
	return 0;
}

int NL_transfer_set_passthrough(NL_summ_T summ)
{
	if (!summ)
		return -1;
	summ->is_passed_through = true;
	return 0;
}

/* --- called under summ->lock */

static struct transfer *find(struct omig_nlsumm *s, const char *id, bool may_make)
{
	struct transfer *t = s->first;

	while (t && !str_eq(t->id, id))
		t = t->next;
	if (t || !may_make || s->n == TRANSFERS_MAX)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t || !(t->id = str_dup(id))) {
		free(t);
		return NULL;
	}
	t->written = clock_mono();
	t->next = s->first;
	s->first = t;
	s->n++;
	return t;
}

static void report(const struct omig_nlsumm *s, struct transfer *t)
{
	char event[40];

	t->written = clock_mono();
	for (int op = 0; s->output && op < NOPS; op++) {
		if (!t->count[op])
			continue;
		snprintf(event, sizeof(event), "transfer.%s.summary", ops[op]);
		NL_write(s->output, s->level, event, "id=s count=l nbytes=d seconds=d", t->id,
			 (long long)t->count[op], t->bytes[op], t->seconds[op]);
	}
}

static void begin_work(struct transfer *t, struct work w)
{
	if (t->nopen < OPEN_MAX)
		t->open[t->nopen++] = w;
}

/* Ends a piece of work. Without a begin, or beyond OPEN_MAX, its bytes count without a time. */
static void end_work(struct transfer *t, struct work w, double nbytes)
{
	t->count[w.op]++;
	t->bytes[w.op] += nbytes > 0 ? nbytes : 0;
	for (unsigned i = 0; i < t->nopen; i++)
		if (t->open[i].op == w.op && t->open[i].stream == w.stream &&
		    t->open[i].block == w.block) {
			t->seconds[w.op] += (double)(w.began - t->open[i].began) / 1e9;
			t->open[i] = t->open[--t->nopen];
			return;
		}
}

/* --- the calls */

static struct omig_nlsumm *summ_of(NL_log_T log)
{
	struct omig_nlsumm *s;

	inproc_lock(&log->lock);
	s = log->summ;
	inproc_unlock(&log->lock);
	return s;
}

static bool is_work(NL_log_T log, const char *id, int op)
{
	return log && id && op >= 0 && op < NOPS;
}

/*
 * Adds to the summary of the log, if it has one. nbytes: of work that ends; NULL: the work begins.
 * Returns false if the event is not to be written.
 */
static bool sum_up(NL_log_T log, const char *id, struct work w, const double *nbytes)
{
	struct omig_nlsumm *s = summ_of(log);
	struct transfer *t;

	if (!s)
		return true;
	inproc_lock(&s->lock);
	t = find(s, id, true);
	if (t && nbytes)
		end_work(t, w, *nbytes);
	else if (t)
		begin_work(t, w);
	if (t && nbytes && s->interval > 0 && clock_mono() - t->written >= s->interval)
		report(s, t);
	inproc_unlock(&s->lock);
	return s->is_passed_through;
}

/* six: NetLogger's interface. */
int NL_transfer_start(NL_log_T log, int level, int op, const char *id, int stream, int block)
{
	char event[40];

	if (!is_work(log, id, op))
		return -1;
	if (!sum_up(log, id, (struct work){ op, stream, block, clock_mono() }, NULL))
		return 0;
	snprintf(event, sizeof(event), "transfer.%s.start", ops[op]);
	return NL_write(log, level, event, "id=s stream=i block=i", id, stream, block);
}

/* six: NetLogger's interface. */
int NL_transfer_end(NL_log_T log, int level, int op, const char *id, int stream, int block,
		    double nbytes)
{
	char event[40];

	if (!is_work(log, id, op))
		return -1;
	if (!sum_up(log, id, (struct work){ op, stream, block, clock_mono() }, &nbytes))
		return 0;
	snprintf(event, sizeof(event), "transfer.%s.end", ops[op]);
	return NL_write(log, level, event, "id=s stream=i block=i nbytes=d", id, stream, block,
			nbytes);
}

int NL_transfer_finalize(NL_summ_T summ)
{
	if (!summ)
		return -1;
	inproc_lock(&summ->lock);
	for (struct transfer *t = summ->first; t; t = t->next)
		report(summ, t);
	inproc_unlock(&summ->lock);
	return 0;
}

void NL_summ_close(NL_summ_T summ)
{
	struct transfer *t;

	if (!summ)
		return;
	while ((t = summ->first)) {
		summ->first = t->next;
		free(t->id);
		free(t);
	}
	pthread_mutex_destroy(&summ->lock.mutex);
	free(summ);
}

char *NL_transfer_get_result_string(NL_summ_T summ, const char *id)
{
	struct buf b = BUF_INIT(RESULT_BYTES);
	const struct transfer *t;

	if (!summ || !id)
		return NULL;
	inproc_lock(&summ->lock);
	t = find(summ, id, false);
	for (int op = 0; t && op < NOPS; op++)
		if (t->count[op])
			buf_printf(&b, "%s%s=%.0f:%.0f", b.n ? " " : "", ops[op], t->bytes[op],
				   t->seconds[op] * 1e9);
	inproc_unlock(&summ->lock);
	if (t && !b.n)
		buf_puts(&b, "");
	return t ? (char *)buf_take(&b, NULL) : NULL;
}

/* --- the slowest kind */

/*
 * Reads the rate of each kind in bytes per ns from a result, the lower one of both ends; 0 =
 * unknown. The text may come from another program.
 */
static void read_rates(const char *text, double rate[NOPS])
{
	for (int op = 0; op < NOPS; op++) {
		const char *at = text ? strstr(text, ops[op]) : NULL;
		double bytes, ns; /* whole numbers, which do not depend on the locale */

		if (!at || sscanf(at + strlen(ops[op]), "=%40lf:%40lf", &bytes, &ns) != 2 ||
		    !(bytes > 0) || !(ns > 0))
			continue;
		if (!rate[op] || bytes / ns < rate[op])
			rate[op] = bytes / ns;
	}
}

int NL_transfer_get_bottleneck(const char *one, const char *other, NL_transfer_btl_T *out)
{
	static const int location[NOPS] = { NL_BTL_DISK_READ, NL_BTL_DISK_WRITE, NL_BTL_NET,
					    NL_BTL_NET };
	double rate[NOPS] = { 0 };
	int least = -1;

	if (!out)
		return -1;
	*out = (NL_transfer_btl_T){ NL_BTL_UNKNOWN, NL_BTL_NOWHERE };
	read_rates(one, rate);
	read_rates(other, rate);
	for (int op = 0; op < NOPS; op++)
		if (rate[op] > 0 && (least < 0 || rate[op] < rate[least]))
			least = op;
	if (least < 0)
		return -1;
	out->result = NL_BTL_KNOWN;
	out->location = location[least];
	if (least < 2 && rate[!least] > 0 &&
	    rate[!least] * (100 - SAME_PERCENT) < rate[least] * 100)
		out->location = NL_BTL_DISK;
	return 0;
}
