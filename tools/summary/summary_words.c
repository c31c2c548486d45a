/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a summary in words. */
#include "tools/summary/summary_text.h"

#include "tools/term/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define CALLS_SAID 3
#define CALL_SAID_LEAST 0.05 /* of the time in MPI: smaller shares are not mentioned */

char *summary_seconds(char out[SUMMARY_SECONDS_BYTES], double seconds)
{
	if (isnan(seconds) || seconds >= 60)
		return table_duration(out, seconds);
	return table_quantity(out, seconds, 3, "s");
}

/* The program of the lowest rank; an MPMD job has others too. */
static const char *program_of(const struct summary_section *of)
{
	for (size_t i = 0; i < of->n; i++)
		if (of->process[i].program[0])
			return of->process[i].program;
	return "";
}

static size_t hosts_of(const struct summary_section *of)
{
	size_t n = 0, k;

	for (size_t i = 0; i < of->n; i++) {
		if (i && !strcmp(of->process[i - 1].host, of->process[i].host))
			continue; /* the usual case: ranks are placed in blocks */
		for (k = 0; k < i; k++)
			if (!strcmp(of->process[k].host, of->process[i].host))
				break;
		n += k == i;
	}
	return n;
}

static double longest(const struct summary_section *of)
{
	double seconds = 0;

	for (size_t i = 0; i < of->n; i++)
		seconds = fmax(seconds, of->process[i].seconds);
	return seconds;
}

static void put_percent(struct buf *out, double share)
{
	if (isnan(share))
		buf_puts(out, "- %");
	else
		buf_printf(out, "%.1f %%", 100 * share);
}

void summary_say_section(const struct summary_section *of, struct buf *out)
{
	struct efficiency e = efficiency_of(of);
	char time[SUMMARY_SECONDS_BYTES];
	size_t hosts = hosts_of(of);

	buf_printf(out, "%s, ", program_of(of));
	if ((int64_t)of->n < of->world_size)
		buf_printf(out, "%zu of %" PRId64 " ranks", of->n, of->world_size);
	else
		buf_printf(out, "%zu rank%s", of->n, of->n == 1 ? "" : "s");
	buf_printf(out, " on %zu host%s, %s: ", hosts, hosts == 1 ? "" : "s",
		   summary_seconds(time, longest(of)));
	if (!e.known) {
		buf_puts(out, "its calls are not known");
		return;
	}
	put_percent(out, e.mpi_share);
	buf_puts(out, " in MPI");
	if (e.most) {
		buf_puts(out, ", imbalance ");
		put_percent(out, 1 - e.load_balance);
		buf_printf(out, " (rank %" PRId64 " computes most)", e.most->rank);
	}
	if (e.known < e.ranks)
		buf_printf(out, "; calls of %zu of %zu ranks", e.known, e.ranks);
	if (e.final < e.known)
		buf_printf(out, "; %zu rank%s not read after the end", e.known - e.final,
			   e.known - e.final == 1 ? "" : "s");
}

void summary_say_efficiency(const struct summary_section *of, struct buf *out)
{
	struct efficiency e = efficiency_of(of);

	if (!e.known)
		return;
	buf_puts(out, "parallel efficiency ");
	if (e.known < e.ranks || (int64_t)e.ranks < of->world_size)
		buf_printf(out, "of %zu rank%s ", e.known, e.known == 1 ? "" : "s");
	put_percent(out, e.parallel);
	buf_puts(out, " = load balance ");
	put_percent(out, e.load_balance);
	buf_puts(out, " x communication ");
	put_percent(out, e.communication);
}

void summary_say_calls(const struct call_sum *sum, size_t n, struct buf *out)
{
	double all = 0;
	uint64_t sent = 0;
	char text[TABLE_NUMBER_BYTES];
	size_t said = 0;

	for (size_t i = 0; i < n; i++) {
		all += sum[i].seconds;
		sent += sum[i].bytes_out;
	}
	for (; said < n && said < CALLS_SAID && sum[said].seconds > CALL_SAID_LEAST * all; said++)
		buf_printf(out, "%s%s %.0f %%", said ? ", " : "", sum[said].name->name,
			   100 * sum[said].seconds / all);
	if (said)
		buf_puts(out, " of the time in MPI");
	if (sent)
		buf_printf(out, "%s%sB sent", said ? "; " : "", table_bytes(text, (double)sent));
}

void summary_say_sites(const struct summary *s, struct buf *out)
{
	double all = summary_whole(s).mpi_s;
	size_t said = 0;

	for (;
	     said < s->nsite && said < CALLS_SAID && s->site[said].seconds > CALL_SAID_LEAST * all;
	     said++) {
		buf_printf(out, "%s%s in ", said ? ", " : "most time in MPI: ", s->site[said].name);
		summary_place(&s->site[said], out);
		buf_printf(out, " %.0f %%", 100 * fmin(1, s->site[said].seconds / all));
	}
}

char *summary_end(char out[SUMMARY_END_BYTES], int status)
{
	if (status > 0 && WIFSIGNALED(status))
		snprintf(out, SUMMARY_END_BYTES, "ended by signal %d", WTERMSIG(status));
	else if (status > 0 && WEXITSTATUS(status))
		snprintf(out, SUMMARY_END_BYTES, "ended with status %d", WEXITSTATUS(status));
	else
		snprintf(out, SUMMARY_END_BYTES, "ended");
	return out;
}

static size_t worlds_of(const struct summary *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->section[i].world_size > 0;
	return n;
}

const struct summary_section *summary_only_world(const struct summary *s)
{
	return worlds_of(s) == 1 ? &s->section[0] : NULL; /* as sorted */
}

void summary_say_job(const struct summary *s, struct buf *out)
{
	char time[SUMMARY_SECONDS_BYTES], end[SUMMARY_END_BYTES];
	size_t worlds = worlds_of(s);

	buf_printf(out, "job %s: ", s->job);
	summary_seconds(time, s->seconds);
	summary_end(end, s->exit_status);
	if (summary_only_world(s))
		summary_say_section(&s->section[0], out);
	else if (worlds)
		buf_printf(out, "%s, %zu MPI programs, %s", s->command, worlds, time);
	else
		buf_printf(out, "%s, %s, no MPI program%s", s->command, time,
			   s->n ? "" : ", and no other process was seen");
	if (s->exit_status > 0)
		buf_printf(out, "; %s %s", s->command, end);
}
