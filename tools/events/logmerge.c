/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/events/logmerge.h"

#include "common/base/str.h"
#include "common/cli/opt.h"
#include "common/cli/progress.h"
#include "common/container/map.h"
#include "eventlog/sort/evsort.h"
#include "eventlog/text/evout.h"
#include "tools/term/say.h"

#include <inttypes.h>
#include <string.h>

#define CLOCK_MAX_NS (366 * 86400 * NSEC_PER_SEC) /* a larger value is not a clock error */
/* names that are stored to count them; with more nodes the count is a lower bound */
#define NODES_COUNTED 1000
#define PROGRESS_EVENTS 8192

struct merging {
	struct evsort *sort;
	struct logmerge_clocks *clocks;
	struct smap nodes; /* names seen; the value is not a pointer */
	bool has_more_nodes;
	uint64_t late; /* events earlier than one before them in their file */
	nsec_t latest; /* in this file */
};

int logmerge_add_clock(void *clocks, const char *text, struct err *e)
{
	struct logmerge_clocks *all = clocks;
	const char *sign = strrchr(text, '=');
	size_t n = sign ? (size_t)(sign - text) : 0;
	bool is_behind = sign && sign[1] == '-';
	struct logmerge_clock *c = &all->clock[all->n];
	int64_t ns;

	if (!n || n > NAME_MAX_BYTES || opt_to_nsec(sign + 1 + is_behind, 0, CLOCK_MAX_NS, &ns))
		return err_set(e, ERR_INVALID, "'%s' is not NODE=TIME, such as node2=-12ms", text);
	if (all->n == LOGMERGE_CLOCKS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d clocks", LOGMERGE_CLOCKS_MAX);
	snprintf(c->node, sizeof(c->node), "%.*s", (int)n, text);
	for (size_t i = 0; i < all->n; i++)
		if (str_eq(all->clock[i].node, c->node))
			return err_set(e, ERR_EXISTS, "clock of %s is given twice", c->node);
	c->ahead = is_behind ? -ns : ns;
	all->n++;
	return 0;
}

/* --- reading */

static int count_node(struct merging *m, const char *node)
{
	if (smap_find(&m->nodes, node))
		return CMD_OK;
	if (m->nodes.n == NODES_COUNTED) {
		m->has_more_nodes = true;
		return CMD_OK;
	}
	return smap_put(&m->nodes, node, m, NULL) ? cmd_fail(CMD_FAILURE, "out of memory") : CMD_OK;
}

static nsec_t corrected(struct logmerge_clock *c, nsec_t at)
{
	nsec_t out;

	c->events++;
	if (__builtin_sub_overflow(at, c->ahead, &out))
		return at < 0 ? INT64_MIN : INT64_MAX;
	return out;
}

bool logmerge_correct(struct logmerge_clocks *clocks, const char *node, nsec_t *t)
{
	for (size_t i = 0; i < clocks->n; i++)
		if (str_eq(clocks->clock[i].node, node)) {
			*t = corrected(&clocks->clock[i], *t);
			return true;
		}
	return false;
}

static int correct(struct merging *m, struct event *ev)
{
	const struct evvalue *host = evattr_find(ev, "HOST");
	char node[NAME_MAX_BYTES + 1];

	if (!host || host->kind != EV_STRING || host->n > NAME_MAX_BYTES)
		return CMD_OK;
	snprintf(node, sizeof(node), "%.*s", (int)host->n, host->s);
	logmerge_correct(m->clocks, node, &ev->wall_ns);
	return count_node(m, node);
}

static int put(void *arg, const struct event *read)
{
	struct merging *m = arg;
	struct event ev = *read;
	struct err e = { 0 };
	int rc = correct(m, &ev);

	m->late += ev.wall_ns < m->latest;
	m->latest = ev.wall_ns > m->latest ? ev.wall_ns : m->latest;
	if (rc == CMD_OK && evsort_put(m->sort, &ev, &e))
		rc = cmd_fail(CMD_FAILURE, "%s", e.text);
	return rc;
}

static void begin_file(void *arg)
{
	struct merging *m = arg;

	m->latest = INT64_MIN;
}

/* --- writing */

static int write_all(const struct merging *m, bool is_quiet, struct logwrite *to)
{
	uint64_t all = evsort_events(m->sort), done = 0;
	struct progress progress;
	struct event ev;
	struct err e = { 0 };
	int got, rc = CMD_OK;

	progress_begin(&progress, is_quiet);
	while (rc == CMD_OK && (got = evsort_next(m->sort, &ev, &e)) == 1) {
		rc = logwrite_event(to, &ev);
		if (++done % PROGRESS_EVENTS == 0 && progress_is_due(&progress))
			progress_show(&progress, "merging %" PRIu64 " events, %u %%", all,
				      (unsigned)(done * 100 / all));
	}
	progress_end(&progress);
	if (rc == CMD_OK && got < 0)
		rc = cmd_fail(CMD_FAILURE, "%s", e.text);
	return rc == CMD_OK ? logwrite_finish(to) : rc;
}

/* --- reports */

static int check_clocks(const struct logmerge_clocks *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (!c->clock[i].events)
			return cmd_fail(CMD_NOTFOUND, "--clock: no event has HOST=%s",
					c->clock[i].node);
	return CMD_OK;
}

static void report_clocks(const struct merging *m)
{
	char ahead[OPT_NSEC_BYTES];
	const struct logmerge_clocks *c = m->clocks;

	for (size_t i = 0; i < c->n; i++)
		cmd_warn("clock of %s: %" PRIu64 " events moved by %s%s", c->clock[i].node,
			 c->clock[i].events, c->clock[i].ahead > 0 ? "-" : "+",
			 opt_from_nsec(ahead, c->clock[i].ahead < 0 ? -c->clock[i].ahead
								    : c->clock[i].ahead));
	if (c->n < m->nodes.n && m->nodes.n > 1)
		cmd_warn("times are those of the clocks of %s%zu nodes, %s (--clock)",
			 m->has_more_nodes ? "more than " : "", m->nodes.n - c->n,
			 c->n ? "and those were not corrected" : "not corrected");
}

static void report(const struct merging *m)
{
	if (m->late)
		cmd_warn("%" PRIu64 " of %" PRIu64 " events were out of order in their files",
			 m->late, evsort_events(m->sort));
	report_clocks(m);
}

int logmerge(const struct logread_options *read, struct logmerge_clocks *clocks, char **files,
	     struct logwrite *to)
{
	struct merging m = { .sort = evsort_new(NULL, EVSORT_MEMORY_BYTES), .clocks = clocks };
	struct logread_options each = *read;
	int rc, written;

	if (!m.sort)
		return cmd_fail(CMD_FAILURE, "out of memory");
	smap_init(&m.nodes);
	each.on_file = begin_file;
	rc = logread_files(&each, files, put, &m);
	if (rc == CMD_OK || rc == CMD_DAMAGED) {
		written = check_clocks(clocks);
		written = written == CMD_OK ? write_all(&m, read->is_quiet, to) : written;
		rc = written == CMD_OK ? rc : written;
	}
	if (rc == CMD_OK || rc == CMD_DAMAGED)
		report(&m);
	smap_done(&m.nodes);
	evsort_free(m.sort);
	return rc;
}
