/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/model/model_file.h"

#include "common/base/str.h"
#include "tools/term/outfile.h"
#include "tools/term/say.h"
#include "tools/term/wholefile.h"

#include <math.h>
#include <stdio.h>

#define FILE_MAX_BYTES (16u << 20)

struct server_use model_use(const struct layered *m, const struct layered_result *r, size_t i)
{
	if (i < m->ntask)
		return (struct server_use){ m->task[i].name, "the threads of",
					    m->task[i].is_reference || m->task[i].is_infinite
						    ? 0
						    : r->task_busy[i] / m->task[i].threads };
	i -= m->ntask;
	return (struct server_use){ m->processor[i].name, "processor",
				    m->processor[i].kind == STATION_DELAY
					    ? 0
					    : r->processor_busy[i] / m->processor[i].servers };
}

struct server_use model_bottleneck(const struct layered *m, const struct layered_result *r)
{
	struct server_use best = { "none", "server", 0 };

	for (size_t i = m->ntask; i < m->ntask + m->nprocessor; i++)
		if (model_use(m, r, i).share > best.share)
			best = model_use(m, r, i);
	for (size_t i = 0; i < m->ntask && best.share < MODEL_FULL; i++)
		if (model_use(m, r, i).share > fmax(best.share, MODEL_FULL))
			best = model_use(m, r, i);
	return best;
}

int model_read(const char *path, const struct demands_options *w, struct layered *m)
{
	struct buf text = BUF_INIT(FILE_MAX_BYTES);
	struct err e = { 0 };
	int status = CMD_OK;

	if (wholefile_read(path, FILE_MAX_BYTES, &text, &e))
		status =
			cmd_fail(e.code == ERR_NOTFOUND ? CMD_NOTFOUND : CMD_FAILURE, "%s", e.text);
	else if (layered_read(buf_str(&text), text.n, m, &e))
		status = wholefile_fail(path, &e);
	buf_done(&text);
	return status == CMD_OK ? demands_apply(w, m) : status;
}

static int write_model(const struct layered *m, const char *output)
{
	struct buf b = BUF_INIT(MODEL_OUTPUT_MAX_BYTES);
	struct err e = { 0 };
	int rc = 0, status;

	if (output && str_has_suffix(output, ".lqnx"))
		layered_write_lqnx(m, &b);
	else
		rc = layered_write_lqn(m, &b, &e);
	if (rc)
		status = cmd_fail(CMD_FAILURE, "%s", e.text);
	else if (b.failed)
		status = cmd_fail(CMD_FAILURE, "the text is longer than %d bytes, or out of memory",
				  MODEL_OUTPUT_MAX_BYTES);
	else
		status = outfile_write(output, &b);
	buf_done(&b);
	return status;
}

int model_convert(const char *path, const struct demands_options *w, const char *output)
{
	struct layered m = { 0 };
	int status;

	if (output && !str_has_suffix(output, ".lqnx") && !str_has_suffix(output, ".lqn"))
		return cmd_fail(CMD_USAGE, "-o: a name with .lqn or .lqnx at its end, not '%s'",
				output);
	status = model_read(path, w, &m);
	if (status == CMD_OK)
		status = write_model(&m, output);
	layered_done(&m);
	return status;
}

int model_print(struct buf *b)
{
	int status = CMD_OK;

	if (b->failed)
		status = cmd_fail(CMD_FAILURE, "out of memory");
	else
		fputs(buf_str(b), stdout);
	buf_done(b);
	return status;
}
