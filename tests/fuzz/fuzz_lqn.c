/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layered models as .lqn and .lqnx: any text is a model, or is refused with a reason. A model is
 * written and read again. A small one is solved, or there is a reason why not; a solution is
 * finite.
 */
#include "model/layered/layered.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX 2048
#define TASKS_MAX 4
#define TEXT_MAX_BYTES (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void solve(const struct layered *m)
{
	struct layered_result r;
	struct err e = { 0 };

	if (layered_solve(m, &r, &e)) {
		if (!e.text[0])
			abort();
	} else {
		for (size_t i = 0; i < m->ntask; i++)
			if (!isfinite(r.task_throughput[i]))
				abort();
	}
	layered_result_done(&r);
}

/* Writes m, reads it, and writes that: the second text is the first one. */
static void write_again(const struct layered *m, bool is_xml)
{
	struct buf b = BUF_INIT(TEXT_MAX_BYTES), c = BUF_INIT(TEXT_MAX_BYTES);
	struct layered again;
	struct err e = { 0 };
	bool is_written = true;

	if (is_xml)
		layered_write_lqnx(m, &b);
	else
		is_written = !layered_write_lqn(m, &b, &e);
	if (is_written && !b.failed) {
		if (layered_read(buf_str(&b), b.n, &again, &e))
			abort();
		if (is_xml)
			layered_write_lqnx(&again, &c);
		else
			layered_write_lqn(&again, &c, &e);
		if (again.nentry != m->nentry || again.ntask != m->ntask ||
		    (!is_xml && strcmp(buf_str(&b), buf_str(&c)) != 0))
			abort();
		layered_done(&again);
	}
	buf_done(&b);
	buf_done(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct layered m;
	struct err e = { 0 };

	if (n > BYTES_MAX)
		return 0;
	if (layered_read((const char *)p, n, &m, &e)) {
		if (!e.text[0])
			abort();
		return 0;
	}
	write_again(&m, false);
	write_again(&m, true);
	if (m.ntask <= TASKS_MAX && m.nentry <= TASKS_MAX)
		solve(&m);
	layered_done(&m);
	return 0;
}
