/* SPDX-License-Identifier: Apache-2.0 */
/* Objects by their names: hosts, sites, ranks. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "common/omis/text/value.h"
#include "tools/measure/measurement.h"
#include "tools/term/ranges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool measurement_name(const struct measurement *m, const char *token, struct object_name *out)
{
	return object_name_find(m->tree, token, out);
}

/* True for a running rank, which a number may mean. */
static bool is_running_rank(const struct measurement *m, const struct object_name *n)
{
	return n->token[0] == 'p' && n->rank >= 0 && !n->has_ended &&
	       (!m->options->job || str_eq(n->job, m->options->job));
}

bool measurement_is_running(const struct measurement *m, size_t i)
{
	struct object_name n;

	return object_name_read(&m->tree->list[i], &n) && n.token[0] == 'p' && !n.has_ended &&
	       (!m->options->job || str_eq(n.job, m->options->job));
}

void measurement_note_jobs(struct measurement *m)
{
	struct object_name n;
	const char *first = NULL;

	m->has_jobs = false;
	for (size_t i = 0; m->tree && i < m->tree->n; i++) {
		if (!object_name_read(&m->tree->list[i], &n) || !is_running_rank(m, &n))
			continue;
		m->has_jobs |= first && !str_eq(first, n.job);
		first = n.job;
	}
}

void measurement_label(const struct measurement *m, const char *token, char *out, size_t size)
{
	if (!token[0])
		str_copy(out, size, "all");
	else if (m->options->tokens)
		str_copy(out, size, token);
	else
		object_name_label(m->tree, m->has_jobs, token, out, size);
}

/* True if bytes and times refer to received messages: Receive_volume, MPI_Irecv_count. */
static bool is_of_receives(const struct measurement *m)
{
	const char *name = m->options->metric;

	return str_has_prefix(name, "Receive_") || str_has_prefix(name, "MPI_Recv") ||
	       str_has_prefix(name, "MPI_Irecv") || str_has_prefix(name, "MPI_Mrecv");
}

void measurement_label_of(const struct measurement *m, const struct measured *v, char *out,
			  size_t size)
{
	char with[256];
	size_t n;

	measurement_label(m, v->object, out, size);
	if (!v->with[0])
		return;
	n = strlen(out);
	if (m->options->each_partner)
		measurement_label(m, v->with, with, sizeof(with));
	snprintf(out + n, size - n, "%s%s%s%s",
		 !m->options->each_partner ? " in "
		 : is_of_receives(m)	   ? " <- "
					   : " -> ",
		 m->options->each_partner ? with : v->with, v->in[0] ? " in " : "", v->in);
}

/* A process without MPI is named after its program. */
static bool is_process_meant(const struct measurement *m, const struct object_name *n,
			     const char *word)
{
	int64_t rank;

	if (n->rank >= 0)
		return is_running_rank(m, n) && !str_to_i64(word, 0, INT32_MAX, &rank) &&
		       rank == n->rank;
	return !n->has_ended && str_eq(n->name, word) &&
	       (!m->options->job || str_eq(n->job, m->options->job));
}

static bool is_meant(const struct measurement *m, const struct object_name *n, const char *word)
{
	if (str_eq(n->token, word))
		return true;
	if (n->token[0] == 'p')
		return is_process_meant(m, n, word);
	return (n->token[0] == 'n' || n->token[0] == 's') && str_eq(n->name, word);
}

#define JOBS_TEXT_BYTES 400

/* Objects that a word selects. */
struct meant {
	size_t n;
	const char *job; /* job of the rank that was found last; NULL: none */
	bool is_of_jobs; /* of several */
	char jobs[JOBS_TEXT_BYTES]; /* names of these jobs, as far as there is room */
};

static void note_job(struct meant *f, const struct object_name *n)
{
	size_t at = strlen(f->jobs);

	if (n->token[0] != 'p' || n->rank < 0 || (f->job && str_eq(f->job, n->job)))
		return;
	f->is_of_jobs |= f->job != NULL;
	f->job = n->job;
	snprintf(f->jobs + at, sizeof(f->jobs) - at, "%s%s", at ? ", " : "",
		 n->job[0] ? n->job : "(without a name)");
}

#define HOSTS_SHOWN_MAX 8
#define RANGES_MAX 8

/* Writes the numbers of the running ranks, as in "0-3, 7". */
static void list_ranks(const struct measurement *m, struct buf *out)
{
	size_t n = 0, all = m->tree ? m->tree->n : 0;
	int64_t *rank = calloc(all + 1, sizeof(*rank));
	struct object_name name;

	for (size_t i = 0; rank && i < all; i++)
		if (object_name_read(&m->tree->list[i], &name) && is_running_rank(m, &name))
			rank[n++] = name.rank;
	if (n)
		qsort(rank, n, sizeof(*rank), array_order_int64);
	if (rank)
		ranges_put(out, rank, n, RANGES_MAX);
	free(rank);
}

/* Names of hosts, sites and programs are candidates. */
static int unknown_object(const struct measurement *m, const char *word)
{
	struct buf hosts = BUF_INIT(1024), ranks = BUF_INIT(256);
	struct nearest near = nearest_to(word);
	struct object_name n;
	size_t shown = 0;

	for (size_t i = 0; m->tree && i < m->tree->n; i++) {
		if (!object_name_read(&m->tree->list[i], &n) || n.has_ended)
			continue;
		nearest_try(&near, n.name);
		if (n.token[0] == 'n' && shown++ < HOSTS_SHOWN_MAX)
			buf_printf(&hosts, "%s%s", shown > 1 ? ", " : "", n.name);
	}
	list_ranks(m, &ranks);
	cmd_fail(CMD_NOTFOUND,
		 "nothing that runs has the name '%s'%s%s%s%s%s Hosts: %s%s. Ranks: %s", word,
		 m->options->job ? " in job " : "", m->options->job ? m->options->job : "",
		 near.best ? "; did you mean " : "", near.best ? near.best : "",
		 near.best ? "?" : ".", hosts.n ? buf_str(&hosts) : "none",
		 shown > HOSTS_SHOWN_MAX ? ", ..." : "", ranks.n ? buf_str(&ranks) : "none");
	buf_done(&hosts);
	buf_done(&ranks);
	return CMD_NOTFOUND;
}

static int put_one(const struct measurement *m, const char *word, struct omis_writer *w)
{
	struct object_name n;
	struct meant f = { 0 };

	for (size_t i = 0; m->tree && i < m->tree->n; i++)
		if (object_name_read(&m->tree->list[i], &n) && is_meant(m, &n, word)) {
			omis_write_token(w, n.token);
			note_job(&f, &n);
			f.n++;
		}
	if (f.is_of_jobs)
		return cmd_fail(CMD_USAGE, "several jobs have a rank %s: choose one with --job: %s",
				word, f.jobs);
	if (f.n)
		return CMD_OK;
	return unknown_object(m, word);
}

int measurement_objects(const struct measurement *m, const char *list, struct buf *out)
{
	struct omis_writer w = OMIS_WRITER(out);
	char word[256];
	int rc = CMD_OK;

	if (str_eq(list, "all"))
		return CMD_OK;
	while (rc == CMD_OK && *list) {
		size_t n = strcspn(list, ",");

		if (n >= sizeof(word))
			return cmd_fail(CMD_NOTFOUND, "no object has such a name");
		memcpy(word, list, n);
		word[n] = 0;
		rc = put_one(m, word, &w);
		list += n + (list[n] == ',');
	}
	return rc;
}

void measurement_poll_tree(struct measurement *m)
{
	Omis_value *v;

	if (session_ask_value(&v, ":omig_tree()") != CMD_OK)
		return;
	omis_value_free(m->tree);
	m->tree = v;
	measurement_note_jobs(m);
}
