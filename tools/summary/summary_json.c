/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/summary/summary.h"

#include "common/json/json.h"
#include "tools/summary/efficiency.h"

static void put_call(struct json *j, const struct summary_section *of, const struct summary_call *c)
{
	json_object(j);
	json_key_str(j, "name", of->name[c->of].name);
	json_key_str(j, "class", of->name[c->of].class);
	json_key_u64(j, "count", c->count);
	json_key_double(j, "seconds", c->seconds);
	json_key_u64(j, "bytes_out", c->bytes_out);
	json_key_u64(j, "bytes_in", c->bytes_in);
	json_key_bool(j, "open", c->is_open);
	json_object_end(j);
}

static void put_partner(struct json *j, const struct summary_partner *p)
{
	json_object(j);
	json_key_i64(j, "rank", p->rank);
	json_key_u64(j, "count", p->count);
	json_key_u64(j, "sends", p->sends);
	json_key_double(j, "seconds", p->seconds);
	json_key_u64(j, "bytes_out", p->bytes_out);
	json_key_u64(j, "bytes_in", p->bytes_in);
	json_object_end(j);
}

/* Unknown values have no member and no list: an empty list means a rank without calls. */
static void put_lists(struct json *j, const struct summary_section *of,
		      const struct summary_process *p)
{
	if (p->has_calls) {
		json_key_array(j, "calls");
		for (size_t i = 0; i < p->ncall; i++)
			put_call(j, of, &p->call[i]);
		json_array_end(j);
	}
	if (!p->has_partners)
		return;
	json_key_array(j, "partners");
	for (size_t i = 0; i < p->npartner; i++)
		put_partner(j, &p->partner[i]);
	json_array_end(j);
}

static void put_process(struct json *j, const struct summary_section *of,
			const struct summary_process *p)
{
	json_object(j);
	json_key_i64(j, "rank", p->rank);
	json_key_str(j, "host", p->host);
	json_key_i64(j, "pid", p->pid);
	json_key_str(j, "program", p->program);
	json_key_i64(j, "exit_status", p->exit_status);
	json_key_bool(j, "final", p->is_final);
	json_key_double(j, "began", p->began_s);
	json_key_double(j, "seconds", p->seconds);
	json_key_double(j, "cpu_seconds", p->cpu_s);
	json_key_double(j, "memory_bytes", p->rss_bytes);
	put_lists(j, of, p);
	json_object_end(j);
}

static void put_slice(struct json *j, const struct summary_section *of,
		      const struct summary_slice *slice)
{
	json_object(j);
	json_key_double(j, "begin", slice->begin_s);
	json_key_double(j, "end", slice->end_s);
	json_key_double(j, "rank_seconds", slice->rank_s);
	json_key_array(j, "calls");
	for (size_t i = 0; i < slice->n; i++) {
		if (slice->seconds[i] <= 0)
			continue;
		json_array(j);
		json_str(j, of->name[i].name);
		json_double(j, slice->seconds[i]);
		json_array_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

/*
 * summary_read() computes these values from the processes. They are in the file for other
 * programs.
 */
static void put_efficiency(struct json *j, const struct summary_section *of)
{
	struct efficiency e = efficiency_of(of);

	json_key_object(j, "efficiency");
	json_key_u64(j, "ranks", e.ranks);
	json_key_u64(j, "known", e.known);
	json_key_u64(j, "final", e.final);
	json_key_double(j, "seconds", e.seconds);
	json_key_double(j, "mpi_share", e.mpi_share);
	json_key_double(j, "load_balance", e.load_balance);
	json_key_double(j, "communication", e.communication);
	json_key_double(j, "parallel", e.parallel);
	json_object_end(j);
}

static void put_section(struct json *j, const struct summary_section *of)
{
	json_object(j);
	json_key_i64(j, "world_size", of->world_size);
	if (of->world_size)
		put_efficiency(j, of);
	json_key_array(j, "processes");
	for (size_t i = 0; i < of->n; i++)
		put_process(j, of, &of->process[i]);
	json_array_end(j);
	json_key_array(j, "slices");
	for (size_t i = 0; i < of->nslice; i++)
		put_slice(j, of, &of->slice[i]);
	json_array_end(j);
	json_object_end(j);
}

/* Puts no member if they were not measured. */
static void put_sizes(struct json *j, const struct summary *s)
{
	if (!s->has_sizes)
		return;
	json_key_array(j, "sizes");
	for (size_t i = 0; i < s->nsize; i++) {
		const struct summary_size *v = &s->size[i];

		json_object(j);
		json_key_str(j, "name", v->name);
		json_key_i64(j, "from", v->from);
		json_key_i64(j, "to", v->to);
		json_key_u64(j, "count", v->count);
		json_key_double(j, "seconds", v->seconds);
		json_key_u64(j, "bytes", v->bytes);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_place(struct json *j, const char *key, const char *s)
{
	json_key_str(j, key, s[0] ? s : NULL);
}

static void put_site(struct json *j, const struct summary_site *v)
{
	json_object(j);
	json_key_str(j, "name", v->name);
	put_place(j, "function", v->function);
	put_place(j, "source", v->source);
	put_place(j, "module", v->module);
	json_key_i64(j, "address", v->address);
	json_key_u64(j, "count", v->count);
	json_key_double(j, "seconds", v->seconds);
	json_key_double(j, "max_seconds", v->longest_s);
	json_key_u64(j, "bytes_out", v->bytes_out);
	json_key_u64(j, "bytes_in", v->bytes_in);
	json_key_i64(j, "ranks", v->ranks);
	json_key_i64(j, "most_rank", v->most_rank);
	json_key_double(j, "most_seconds", v->most_s);
	json_object_end(j);
}

static void put_sites(struct json *j, const struct summary *s)
{
	if (!s->has_sites)
		return;
	json_key_array(j, "sites");
	for (size_t i = 0; i < s->nsite; i++)
		put_site(j, &s->site[i]);
	json_array_end(j);
}

int summary_write(const struct summary *s, struct buf *out)
{
	struct json j;
	int rc;

	json_init(&j, out);
	json_object(&j);
	json_key_str(&j, "format", SUMMARY_FORMAT);
	json_key_i64(&j, "version", SUMMARY_VERSION);
	json_key_str(&j, "omig", s->omig);
	json_key_str(&j, "job", s->job);
	json_key_str(&j, "command", s->command);
	json_key_str(&j, "measured", s->measured);
	json_key_i64(&j, "begun_ns", s->begun_ns);
	json_key_double(&j, "seconds", s->seconds);
	json_key_i64(&j, "exit_status", s->exit_status);
	json_key_array(&j, "missing");
	for (size_t i = 0; i < s->nnote; i++)
		json_str(&j, s->note[i]);
	json_array_end(&j);
	json_key_array(&j, "sections");
	for (size_t i = 0; i < s->n; i++)
		put_section(&j, &s->section[i]);
	json_array_end(&j);
	put_sizes(&j, s);
	put_sites(&j, s);
	json_object_end(&j);
	rc = json_end(&j);
	return rc ? rc : buf_putc(out, '\n');
}
