/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/cli/endsignal.h"
#include "common/json/json.h"
#include "tools/model/experiment.h"
#include "tools/model/model_file.h"
#include "tools/term/outfile.h"
#include "tools/term/say.h"

#include <math.h>
#include <stdio.h>

int experiment_run(struct experiment_options *w, const struct study *s, const char *what,
		   struct study_result *out)
{
	struct err e = { 0 };

	if (study_check(s, &e))
		return cmd_fail(CMD_USAGE, "%s", e.text);
	if (study_begin(s, out))
		return cmd_fail(CMD_FAILURE, "out of memory");
	for (unsigned i = 0; i < s->replications; i++) {
		if (end_signal)
			return CMD_SIGNAL + end_signal;
		if (study_replicate(s, i, out))
			return cmd_fail(CMD_FAILURE, "out of memory");
		if (progress_is_due(&w->progress))
			progress_show(&w->progress, "%s: replication %u of %u", what, i + 1,
				      s->replications);
	}
	study_end(out);
	return CMD_OK;
}

char *experiment_p(char out[EXPERIMENT_P_BYTES], double p)
{
	if (isnan(p))
		snprintf(out, EXPERIMENT_P_BYTES, "-");
	else
		snprintf(out, EXPERIMENT_P_BYTES, p < 1e-99 ? "<1e-99" : "%.2g", p);
	return out;
}

void experiment_csv(struct buf *out, double v)
{
	if (isnan(v))
		buf_putc(out, ',');
	else
		buf_printf(out, ",%.10g", v);
}

static void put_law(struct json *j, const char *key, const struct law *l)
{
	struct buf b = BUF_INIT(128);

	law_print(l, &b);
	json_key_str(j, key, buf_str(&b));
	buf_done(&b);
}

void experiment_factors(const struct study *s, struct json *j)
{
	static const char *const counts[] = { "begin", "arrival", "end" };
	static const char *const credits[] = { "use", "end", "begin" };

	json_key_object(j, "factors");
	json_key_double(j, "mean", s->server.mean);
	json_key_double(j, "growth", s->server.mean_growth);
	json_key_double(j, "utilisation", s->server.utilisation);
	json_key_double(j, "rate_growth", s->server.rate_growth);
	put_law(j, "arrival", &s->server.arrival);
	json_key_double(j, "period", s->server.period);
	json_key_u64(j, "periods", s->server.periods);
	json_key_u64(j, "cut", s->cut);
	json_key_u64(j, "replications", s->replications);
	json_key_str(j, "method", estimate_name(s->method));
	json_key_str(j, "count", counts[s->server.count]);
	json_key_str(j, "credit", credits[s->server.credit]);
	json_key_u64(j, "seed", s->seed);
	json_object_end(j);
}

static void make_json(const struct experiment_form *f, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j);
	f->json(f->results, &j);
	json_object_end(&j);
	if (json_end(&j))
		out->failed = true;
	buf_putc(out, '\n');
}

static int write_file(const char *path, const struct experiment_form *f)
{
	struct buf b = BUF_INIT(EXPERIMENT_MAX_BYTES);
	int status;

	if (str_has_suffix(path, ".svg"))
		f->svg(f->results, &b);
	else if (str_has_suffix(path, ".csv"))
		f->csv(f->results, &b);
	else
		make_json(f, &b);
	status = b.failed ? cmd_fail(CMD_FAILURE, "out of memory") : outfile_write(path, &b);
	buf_done(&b);
	return status;
}

int experiment_write(const struct experiment_options *w, const struct experiment_form *f)
{
	struct buf b = BUF_INIT(EXPERIMENT_MAX_BYTES);
	int status = w->output ? write_file(w->output, f) : CMD_OK;

	if (status != CMD_OK)
		return status;
	if (w->json)
		make_json(f, &b);
	else if (w->csv)
		f->csv(f->results, &b);
	else
		f->text(f->results, &b);
	if (!b.failed && w->json)
		cmd_document();
	return model_print(&b);
}
