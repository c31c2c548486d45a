/* SPDX-License-Identifier: Apache-2.0 */
/* omig probes: the functions of a program's probes from their declarations, and which probes
 * programs have. */
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/probes/probe_write.h"
#include "tools/session/object_names.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/term/table.h"
#include "tools/term/wholefile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_MAX_BYTES (1 << 20) /* sixty-four declarations have far less */
#define STEM_BYTES 64

struct making {
	const char *file, *output, *header, *fortran;
	struct term term;
	struct probe_decls decls;
	char stem[STEM_BYTES];
};

/* The file's name without folder and ending, as a name of C and Fortran. */
static void make_stem(const char *path, char out[STEM_BYTES])
{
	const char *name = str_base_name(path);
	size_t n = strcspn(name, ".");

	if (!n || n >= STEM_BYTES - 8 ||
	    !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", *name))
		snprintf(out, STEM_BYTES, "probes_%.*s", (int)(n < 40 ? n : 40), name);
	else
		snprintf(out, STEM_BYTES, "%.*s", (int)n, name);
}

static void report(const struct making *m, const struct pmsl_source *s, const struct pmsl_diags *d)
{
	const struct pmsl_colors colors = { term_paint(&m->term, TERM_BOLD),
					    term_paint(&m->term, TERM_RED),
					    term_paint(&m->term, TERM_YELLOW),
					    term_paint(&m->term, TERM_GREEN),
					    term_paint(&m->term, TERM_PLAIN) };
	struct buf b = BUF_INIT(1 << 20);

	for (size_t i = 0; i < d->n; i++)
		pmsl_diag_print(&b, s, &d->v[i], &colors);
	fputs(buf_str(&b), stderr);
	buf_done(&b);
}

static int read_decls(struct making *m)
{
	struct buf text = BUF_INIT(READ_MAX_BYTES);
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct err e = { 0 };
	int rc = wholefile_read(m->file, READ_MAX_BYTES, &text, &e);
	struct pmsl_source s = { wholefile_name(m->file), buf_str(&text), text.n };

	if (rc) {
		rc = cmd_fail(rc == -ERR_NOTFOUND ? CMD_NOTFOUND : CMD_FAILURE, "%s", e.text);
	} else {
		probe_decls_read(&s, &d, &m->decls);
		report(m, &s, &d);
		rc = d.nerror ? CMD_FAILURE : CMD_OK;
	}
	buf_done(&text);
	return rc;
}

static int write_out(const char *path, const struct buf *b)
{
	FILE *to = path ? fopen(path, "we") : stdout;
	bool is_written;

	if (b->failed)
		return cmd_fail(CMD_FAILURE, "out of memory");
	if (!to)
		return cmd_fail(CMD_FAILURE, "%s: cannot be written", path);
	is_written = fwrite(buf_str(b), 1, b->n, to) == b->n;
	if (path ? fclose(to) : fflush(to))
		is_written = false;
	return is_written ? CMD_OK
			  : cmd_fail(CMD_FAILURE, "%s: cannot be written", path ? path : "output");
}

static int make_one(const struct making *m, const char *path,
		    void (*write)(struct buf *b, const struct probe_decls *p, const char *stem))
{
	struct buf b = BUF_INIT(READ_MAX_BYTES);
	char stem[STEM_BYTES];
	int rc;

	make_stem(write == probe_write_fortran ? path : m->file, stem);
	write(&b, &m->decls, stem);
	rc = write_out(path, &b);
	buf_done(&b);
	return rc;
}

static int make(struct making *m)
{
	int rc = read_decls(m);

	if (rc == CMD_OK && (m->output || !(m->header || m->fortran)))
		rc = make_one(m, m->output, probe_write_c);
	if (rc == CMD_OK && m->header)
		rc = make_one(m, m->header, probe_write_header);
	if (rc == CMD_OK && m->fortran)
		rc = make_one(m, m->fortran, probe_write_fortran);
	return rc;
}

/* --- of running programs */

static int list(const struct cmd_common *c)
{
	Omis_reply r;
	struct object_names names = { 0 };
	struct show w = { .names = NULL };
	int rc = session_open(c);

	if (rc != CMD_OK)
		return rc;
	rc = session_attach_all();
	if (rc == CMD_OK)
		rc = session_ask(&r, ":proc_get_probes([])");
	if (rc == CMD_OK) {
		term_open(&w.term, c->color);
		if (w.term.is_tty && !c->json) {
			object_names_ask(&names);
			w.names = &names;
		}
		if (!(c->json ? show_reply_json(r) : show_reply(&w, r)))
			rc = CMD_FAILURE;
		else
			rc = session_exit_status(r);
		omis_reply_free(r);
		object_names_done(&names);
	}
	session_close();
	return rc;
}

/* True if an output file is the input file. */
static bool is_input(const struct making *m)
{
	return (m->output && str_eq(m->output, m->file)) ||
	       (m->header && str_eq(m->header, m->file)) ||
	       (m->fortran && str_eq(m->fortran, m->file));
}

int cmd_probes(int argc, char **argv)
{
	struct cmd_common c = CMD_COMMON_INIT;
	struct making m = { .file = NULL };
	bool is_list = false;
	const struct opt table[] = {
		OPTION("output", 'o', "FILE", "write the C source there instead of standard output",
		       OPT_STR, &m.output),
		OPTION("header", 'H', "FILE", "write prototypes for C and C++ there", OPT_STR,
		       &m.header),
		OPTION("fortran", 'f', "FILE",
		       "write a Fortran module with the interfaces there, with the name of the "
		       "file",
		       OPT_STR, &m.fortran),
		OPTION("list", 'l', NULL, "list the probes of the running programs instead",
		       OPT_FLAG, &is_list),
		CMD_OPTIONS(&c),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig probes",
		.usage = "[OPTION...] FILE | --list",
		.summary = "generates probe functions, which mark regions of a program, from their "
			   "declarations in FILE "
			   "('-': standard input)",
		.table = table,
	};
	int first, status = cmd_parse(&spec, argc, argv, &first);

	if (status >= 0)
		return status;
	if (is_list)
		return first == argc ? list(&c) : cmd_usage(&spec, "--list takes no file");
	if (argc - first != 1)
		return cmd_usage(&spec, "which file?");
	m.file = argv[first];
	if (is_input(&m))
		return cmd_usage(&spec, "the declarations would be overwritten");
	term_open(&m.term, c.color);
	return make(&m);
}
