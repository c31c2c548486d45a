/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/interaction/netfiles.h"

#include "common/base/str.h"
#include "interaction/form/netput.h"
#include "interaction/set/netfilter.h"
#include "tools/term/outfile.h"
#include "tools/term/say.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define OUTPUT_MAX_BYTES ((size_t)1 << 36)
#define WRITE_BYTES (256 * 1024)

struct job {
	const struct netfiles_options *options;
	struct outfile file; /* the file of all networks */
	struct buf out;
	uint64_t n;
	bool is_filter;
};

/* "0007-NAME.json": names of interactions may be anything. */
static void name_file(const struct job *j, const char *name, char *out, size_t size)
{
	int n = snprintf(out, size, "%s/%04" PRIu64, j->options->output, j->n);

	if (n < 0 || (size_t)n + 8 >= size)
		return;
	if (*name)
		out[n++] = '-';
	for (; *name && (size_t)n + 8 < size; name++)
		out[n++] =
			strchr("/\\:*?\"<>| ", *name) || (unsigned char)*name < 0x21 ? '_' : *name;
	snprintf(out + n, size - (size_t)n, ".json");
}

static int write_own_file(struct job *j, const char *name)
{
	char path[FILE_PATH_BYTES];
	int status;

	name_file(j, name, path, sizeof(path));
	status = outfile_write(path, &j->out);
	buf_clear(&j->out);
	return status;
}

static int write_network(struct job *j, const struct netread_one *one, const struct network *w)
{
	struct json json;

	j->n++;
	json_init(&json, &j->out);
	netput_network(&json, one->part.name, w, one->node);
	if (json_end(&json))
		return cmd_fail(CMD_FAILURE, "out of memory");
	buf_putc(&j->out, '\n');
	if (j->options->output && !j->is_filter)
		return write_own_file(j, one->part.name);
	return outfile_put(&j->file, &j->out, WRITE_BYTES);
}

static int take_split(void *arg, const struct netread_one *one)
{
	struct job *j = arg;

	return netread_is_chosen(one, j->options->only) ? write_network(j, one, one->part.w)
							: CMD_OK;
}

/* --- filter */

static void choose(const struct netread_terms *omit, const struct netuse *u, bool *object,
		   bool *has_all)
{
	for (unsigned i = 0; i < omit->n; i++) {
		*has_all |= str_eq(omit->text[i], "all");
		for (unsigned k = 0; k < netuse_objects(u); k++)
			object[k] |= str_eq(omit->text[i], netuse_object_name(u, k));
	}
}

static int filter_one(struct job *j, const struct netread_one *one, const bool *object,
		      bool has_all)
{
	struct netfilter f = { object, has_all };
	struct network w;
	struct err e = { 0 };
	int status;

	network_init(&w, one->part.w->use);
	if (netfilter_run(&f, one->part.w, &w, &e))
		status = cmd_fail(CMD_FAILURE, "%s", e.text);
	else
		status = write_network(j, one, &w);
	network_done(&w);
	return status;
}

static int take_filter(void *arg, const struct netread_one *one)
{
	const struct netuse *u = one->part.w->use;
	struct job *j = arg;
	bool *object, has_all = false;
	int status;

	if (!netread_is_chosen(one, j->options->only))
		return CMD_OK;
	object = calloc(netuse_objects(u) + 1, sizeof(*object));
	if (!object)
		return cmd_fail(CMD_FAILURE, "out of memory");
	choose(&j->options->omit, u, object, &has_all);
	status = filter_one(j, one, object, has_all);
	free(object);
	return status;
}

/* --- all */

static int run(struct job *j, netread_fn fn, char **files)
{
	struct netread_report report;
	int status = netread_files(&j->options->read, files, fn, j, &report), end;

	if (!netread_has_result(status))
		return status;
	if (!j->n && j->options->only)
		return netread_fail_none(j->options->only);
	end = outfile_put(&j->file, &j->out, 0);
	end = end == CMD_OK ? outfile_finish(&j->file) : end;
	if (end == CMD_OK && (report.incomplete || report.wrong))
		cmd_warn("%" PRIu64 " of %" PRIu64 " interactions are incomplete or wrong",
			 report.incomplete + report.wrong, report.interactions);
	return end == CMD_OK ? status : end;
}

static int run_all(struct job *j, netread_fn fn, char **files)
{
	bool is_folder = j->options->output && !j->is_filter;
	int status;

	if (is_folder && mkdir(j->options->output, 0777) && errno != EEXIST)
		return cmd_fail(CMD_FAILURE, "%s: %s", j->options->output, strerror(errno));
	j->out = BUF_INIT(OUTPUT_MAX_BYTES);
	status = outfile_open(&j->file, is_folder ? NULL : j->options->output);
	if (status == CMD_OK)
		status = run(j, fn, files);
	outfile_close(&j->file);
	buf_done(&j->out);
	return status;
}

int netfiles_split(const struct netfiles_options *w, char **files)
{
	struct job j = { .options = w };
	int status = run_all(&j, take_split, files);

	if (w->output && (status == CMD_OK || status == CMD_PARTIAL))
		printf("%" PRIu64 " interactions in %s\n", j.n, w->output);
	return status;
}

int netfiles_filter(const struct netfiles_options *w, char **files)
{
	struct job j = { .options = w, .is_filter = true };

	return run_all(&j, take_filter, files);
}
