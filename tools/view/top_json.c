/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/session/show.h"
#include "tools/term/say.h"
#include "tools/view/top_show.h"
#include "tools/view/top_waits.h"
#include "tools/view/top_words.h"

static void classes_json(struct json *j, const char *name, const double *v, double scale)
{
	json_key_object(j, name);
	for (size_t i = 0; i < TOP_CLASSES; i++)
		json_key_double(j, top_class_names[i], v[i] * scale);
	json_object_end(j);
}

static void call_json(struct json *j, const struct top_call *c)
{
	static const char *const states[] = { "in", "asks", "out" };

	json_key(j, "call");
	if (c->state == TOP_CALL_UNKNOWN) {
		json_null(j);
		return;
	}
	json_object(j);
	json_key_str(j, "name", c->name);
	json_key_str(j, "state", states[c->state]);
	json_key_double(j, "seconds", c->seconds);
	json_key_bool(j, "exact", c->is_exact);
	json_key_i64(j, "partner", c->partner);
	json_key_i64(j, "tag", c->tag);
	json_object_end(j);
}

static void stop_json(void *arg, const struct top_wait *w)
{
	struct json *j = arg;

	json_object(j);
	json_key_str(j, "job", w->job);
	json_key_double(j, "seconds", w->seconds);
	json_key_bool(j, "all", w->kind == TOP_WAIT_ALL);
	json_key_str(j, "what", top_wait_words(w));
	json_key_str(j, "text", w->text);
	json_object_end(j);
}

static void word_json(void *arg, const struct top_word *w)
{
	struct json *j = arg;

	json_object(j);
	json_key_str(j, "kind", top_word_name(w->kind));
	json_key_str(j, "of", w->of);
	json_key_str(j, "text", w->text);
	json_object_end(j);
}

static void rank_json(struct json *j, const struct top_rank *r)
{
	json_object(j);
	json_key_str(j, "token", r->token);
	json_key_str(j, "job", r->job);
	json_key_i64(j, "rank", r->rank);
	json_key_str(j, "node", r->node);
	json_key_i64(j, "pid", r->pid);
	json_key_str(j, "program", r->program);
	json_key_str(j, "state", top_state_name(r->state));
	json_key_double(j, "mpi_percent", r->mpi);
	json_key_bool(j, "slow", r->is_slow);
	call_json(j, &r->call);
	classes_json(j, "percent", r->share, 1);
	json_key_double(j, "calls_per_s", r->calls_s);
	json_key_double(j, "messages_per_s", r->messages_s);
	json_key_double(j, "bytes_out_per_s", r->out_s);
	json_key_double(j, "bytes_in_per_s", r->in_s);
	json_key_double(j, "cpu_percent", r->cpu);
	json_key_double(j, "rss_bytes", r->rss_bytes);
	json_key_object(j, "total");
	json_key_double(j, "calls", top_counted(r, r->calls));
	classes_json(j, "seconds", r->delay_ns, top_counted(r, 1e-9));
	json_key_double(j, "bytes_out", top_counted(r, r->bytes_out));
	json_key_double(j, "bytes_in", top_counted(r, r->bytes_in));
	json_key_double(j, "cpu_seconds", r->cpu_s);
	json_object_end(j);
	json_object_end(j);
}

static void node_json(struct json *j, const struct top_node *n)
{
	json_object(j);
	json_key_str(j, "token", n->token);
	json_key_str(j, "name", n->name);
	json_key_double(j, "load", n->load);
	json_key_double(j, "running", n->running);
	json_key_double(j, "cpus", n->cpus);
	json_key_double(j, "mem_bytes", n->mem_bytes);
	json_key_double(j, "mem_used_bytes", n->mem_used_bytes);
	json_key_double(j, "cpu_pressure_percent", n->cpu_some);
	json_key_double(j, "memory_pressure_percent", n->memory_some);
	json_key_double(j, "io_pressure_percent", n->io_some);
	json_object_end(j);
}

bool top_show_json(const struct top_sample *s)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	json_key_i64(j, "time_ns", s->wall);
	json_key_array(j, "nodes");
	for (size_t i = 0; i < s->nnode; i++)
		node_json(j, &s->node[i]);
	json_array_end(j);
	json_key_array(j, "ranks");
	for (size_t i = 0; i < s->nrank; i++)
		rank_json(j, &s->rank[i]);
	json_array_end(j);
	json_key_array(j, "words");
	top_words(s, word_json, j);
	json_array_end(j);
	json_key_array(j, "stopped");
	top_waits(s, stop_json, j);
	json_array_end(j);
	show_coverage_json(j, s->reply);
	json_object_end(j);
	return show_doc_next(&d) == CMD_OK;
}
