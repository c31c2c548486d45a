/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/model/experiment.h"

#include "common/base/str.h"
#include "common/cli/endsignal.h"
#include "tools/term/outfile.h"
#include "tools/term/say.h"

void experiment_init(struct experiment_options *w)
{
	*w = (struct experiment_options){
		.base = { .server = server_basic,
			  .method = ESTIMATE_OLS,
			  .replications = 100,
			  .cut = 1,
			  .seed = 1,
			  .level = 0.9 },
		.periods = server_basic.periods,
		.cut = 1,
	};
}

int experiment_show(struct experiment_options *w, const char *table)
{
	int status = CMD_OK;

	if (w->output)
		status = outfile_check(w->output);
	if (status != CMD_OK)
		return status;
	end_signal_catch();
	progress_begin(&w->progress, w->json);
	if (w->is_fit)
		status = experiment_fit(w);
	else
		status = str_eq(table, "table1") ? experiment_table1(w) : experiment_table2(w);
	progress_end(&w->progress);
	return status;
}

int experiment_law(void *into, const char *text, struct err *e)
{
	return law_parse(text, into, e);
}

int experiment_service(void *into, const char *text, struct err *e)
{
	struct experiment_options *w = into;

	w->has_law = true;
	return law_parse(text, &w->base.server.service, e);
}
