/* SPDX-License-Identifier: Apache-2.0 */
/* omig_node_sample: counters of the node and its connections, all of one moment. */
#include "lm/service/families.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/limits.h"
#include "lm/host/rates.h"

#include <stddef.h>

/* Counts since boot. */
static const struct {
	const char *name;
	enum host_count which;
} counts[] = {
	{ "cpu.user", HOST_CPU_USER },
	{ "cpu.system", HOST_CPU_SYSTEM },
	{ "cpu.idle", HOST_CPU_IDLE },
	{ "cpu.iowait", HOST_CPU_IOWAIT },
	{ "cpu.steal", HOST_CPU_STEAL },
	{ "interrupts", HOST_INTERRUPTS },
	{ "context_switches", HOST_CONTEXT_SWITCHES },
	{ "disk.read", HOST_DISK_BYTES_READ },
	{ "disk.written", HOST_DISK_BYTES_WRITTEN },
	{ "net.received", HOST_BYTES_RECEIVED },
	{ "net.sent", HOST_BYTES_SENT },
	{ "tcp.sent", HOST_TCP_SENT },
	{ "tcp.retransmitted", HOST_TCP_RETRANSMITTED },
};

/* The state now. */
static const struct {
	const char *name;
	size_t at; /* place of a double in struct host_now */
} states[] = {
	{ "load", offsetof(struct host_now, load1) },
	{ "pressure.cpu", offsetof(struct host_now, cpu_some) },
	{ "pressure.memory", offsetof(struct host_now, memory_some) },
	{ "pressure.io", offsetof(struct host_now, io_some) },
};

/* An unknown value is left out. */
static void write_pair(struct omis_writer *w, const char *name, double value)
{
	if (value < 0)
		return;
	omis_write_list(w);
	omis_write_string(w, name);
	omis_write_float(w, value);
	omis_write_list_end(w);
}

static void write_states(struct omis_writer *w, struct host *host)
{
	struct host_facts facts;
	struct host_now now;

	if (host_now(host, &now, NULL))
		return;
	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		write_pair(w, states[i].name,
			   *(const double *)(const void *)((const char *)&now + states[i].at));
	if (host_facts(host, &facts, NULL) || facts.page_size <= 0)
		return;
	write_pair(w, "memory.available", (double)now.available_pages * (double)facts.page_size);
	write_pair(w, "swap.free", (double)now.free_swap_pages * (double)facts.page_size);
}

static void write_connections(struct omis_writer *w, struct host *host)
{
	struct host_tcp tcp[HOST_TCP_MAX];
	size_t n = HOST_TCP_MAX, left_out = 0;

	if (host_tcp(host, tcp, &n, &left_out)) {
		omis_write_int(w, -1);
		return;
	}
	omis_write_int(w, (int64_t)left_out);
	for (size_t i = 0; i < n; i++) {
		omis_write_list(w);
		omis_write_string(w, tcp[i].local);
		omis_write_string(w, tcp[i].remote);
		omis_write_float(w, tcp[i].rtt_s);
		omis_write_float(w, tcp[i].rttvar_s);
		OMIS_WRITE_INTS(w, tcp[i].retransmitted, tcp[i].sent, tcp[i].received);
		omis_write_list_end(w);
	}
}

static int write_sample(const struct node *of, struct buf *b)
{
	struct omis_writer w = OMIS_WRITER(b);
	struct host_counts c;
	int rc = host_counts(of->host, &c, NULL);

	if (rc)
		return rc;
	omis_write_string(&w, of->host_name);
	omis_write_int(&w, c.wall);
	omis_write_list(&w);
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		write_pair(&w, counts[i].name, (double)c.v[counts[i].which]);
	write_states(&w, of->host);
	omis_write_list_end(&w);
	write_connections(&w, of->host);
	return b->failed ? -ERR_NOMEM : 0;
}

static int serve_node_sample(struct service_call *c)
{
	struct objects o = { 0 };
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	int rc = call_resolve(c, 'n', &o);

	if (!rc && o.n)
		rc = write_sample(c->of, &b);
	if (!rc && o.n)
		rc = reply_add(c->reply, c->action, o.v[0].token, STATUS_OK, buf_str(&b));
	if (!rc)
		reply_add_time(c->reply, call_now(c), call_now(c));
	buf_done(&b);
	objects_done(&o);
	return rc;
}

const struct service sample_services[] = {
	{ "omig_node_sample", serve_node_sample },
	{ NULL, NULL },
};
