/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/daemon/daemon_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const level_names[] = { "error", "warn", "notice", "info", "debug", NULL };
static const char *const format_names[] = { "auto", "plain", "journal", "json", NULL };

static const struct conf_key own_keys[] = {
	{ .name = "state-dir",
	  .kind = CONF_STRING,
	  .offset = offsetof(struct daemon_own, state_dir),
	  .def = "",
	  .max = FILE_PATH_BYTES - 256,
	  .flags = CONF_OPTION,
	  .arg = "DIR",
	  .help = "where keys, certificates and lists are kept; empty: from the environment" },
	{ .name = "log-level",
	  .kind = CONF_CHOICE,
	  .offset = offsetof(struct daemon_own, log_level),
	  .def = "notice",
	  .choice = level_names,
	  .flags = CONF_OPTION | CONF_RELOAD,
	  .arg = "LEVEL",
	  .help = "least level of the lines in the log" },
	{ .name = "log-format",
	  .kind = CONF_CHOICE,
	  .offset = offsetof(struct daemon_own, log_format),
	  .def = "auto",
	  .choice = format_names,
	  .flags = CONF_OPTION | CONF_RELOAD,
	  .arg = "FORMAT",
	  .help = "form of the lines in the log; auto: journal under systemd, else plain" },
	{ .name = "log-areas",
	  .kind = CONF_STRING,
	  .offset = offsetof(struct daemon_own, log_areas),
	  .def = "",
	  .max = 400,
	  .flags = CONF_OPTION | CONF_RELOAD,
	  .arg = "AREA=LEVEL,...",
	  .help = "levels of their own for areas, the words before the colon in the log: "
		  "net=debug" },
};

#define NOWN ARRAY_LEN(own_keys)
#define NFIXED 8

static size_t count_keys(const struct conf_key *k)
{
	size_t n = 0;

	while (k[n].name)
		n++;
	return n;
}

static size_t count_options(const struct opt *o)
{
	size_t n = 0;

	while (o && o[n].name)
		n++;
	return n;
}

static int set_key(void *into, const char *value, struct err *e)
{
	const struct daemon_set *s = into;

	/* conf_load() checks the value together with all others. */
	s->args->set[s->args->nset++] = (struct conf_set){ s->key->name, value ? value : "yes" };
	return 0;
}

static void add_fixed(struct daemon_args *a, struct opt **o)
{
	const struct opt fixed[NFIXED] = {
		{ .name = "config",
		  .short_name = 'c',
		  .arg = "FILE",
		  .kind = OPT_STR,
		  .into = &a->config,
		  .help = "read this configuration in place of the usual files" },
		{ .name = "check-config",
		  .kind = OPT_FLAG,
		  .into = &a->check_config,
		  .help = "read the configuration and the keys, report errors, and end" },
		{ .name = "dump-config",
		  .kind = OPT_FLAG,
		  .into = &a->dump_config,
		  .help = "print the configuration in effect as a file with comments and end" },
		{ .name = "print-config",
		  .kind = OPT_FLAG,
		  .into = &a->print_config,
		  .help = "print each value in effect and its source, and end" },
		{ .name = "example-config",
		  .kind = OPT_FLAG,
		  .into = &a->example_config,
		  .help = "print every key with its meaning and its default, and end" },
		{ .name = "foreground",
		  .short_name = 'f',
		  .kind = OPT_FLAG,
		  .into = &a->foreground,
		  .help = "stay in the foreground" },
		{ .name = "background",
		  .kind = OPT_FLAG,
		  .into = &a->background,
		  .help = "go to the background once ready" },
		{ .name = "lock-fd",
		  .arg = "N",
		  .kind = OPT_I64,
		  .into = &a->lock_fd,
		  .min = 3,
		  .max = 1 << 20,
		  .help = "the lock is held already through this descriptor" },
	};

	memcpy(*o, fixed, sizeof(fixed));
	*o += NFIXED;
}

static void add_keys(struct daemon_args *a, struct opt **o)
{
	struct daemon_set *s = a->option;

	for (const struct conf_key *k = a->key; k->name; k++) {
		if (!(k->flags & CONF_OPTION) || k->section)
			continue;
		*s = (struct daemon_set){ a, k };
		*(*o)++ = (struct opt){ .name = k->name,
					.arg = k->kind == CONF_BOOL ? NULL
					       : k->arg		    ? k->arg
								    : "VALUE",
					.help = k->help,
					.kind = OPT_CALL,
					.into = s++,
					.call = set_key };
	}
}

int daemon_args_init(struct daemon_args *a, const struct daemon_spec *spec)
{
	size_t nkey = count_keys(spec->conf->key), nopt = count_options(spec->options);
	struct opt *o;

	*a = (struct daemon_args){ .lock_fd = -1, .schema = *spec->conf };
	a->key = calloc(NOWN + nkey + 1, sizeof(*a->key));
	a->option = calloc(NOWN + nkey + 1, sizeof(*a->option));
	a->opt = calloc(NFIXED + NOWN + nkey + nopt + 1, sizeof(*a->opt));
	if (!a->key || !a->option || !a->opt)
		return -ERR_NOMEM;
	/* The keys of each daemon follow the program's struct, aligned for any type. */
	a->own_offset = (spec->conf->bytes + 15) & ~(size_t)15;
	a->schema.bytes = a->own_offset + sizeof(struct daemon_own);
	memcpy(a->key, own_keys, sizeof(own_keys));
	for (size_t i = 0; i < NOWN; i++)
		a->key[i].offset += a->own_offset;
	memcpy(a->key + NOWN, spec->conf->key, nkey * sizeof(*a->key));
	a->schema.key = a->key;
	o = a->opt;
	add_fixed(a, &o);
	add_keys(a, &o);
	if (nopt)
		memcpy(o, spec->options, nopt * sizeof(*o));
	return 0;
}

void daemon_args_done(struct daemon_args *a)
{
	free(a->key);
	free(a->opt);
	free(a->option);
	free(a->set);
}

enum opt_result daemon_args_parse(struct daemon_args *a, const struct daemon_spec *spec, int argc,
				  char **argv)
{
	const struct opt_spec os = { .program = spec->program,
				     .usage = "[OPTION...]",
				     .summary = spec->summary,
				     .details = spec->details,
				     .table = a->opt };
	enum opt_result r;
	int first = 0;

	/* There cannot be more options than arguments. */
	a->set = calloc((size_t)argc + 1, sizeof(*a->set));
	if (!a->set)
		return OPT_USAGE;
	r = opt_parse(&os, argc, argv, &first);
	if (r == OPT_GO && first < argc) {
		opt_usage_error(&os, "takes no operand, but there is '%s'", argv[first]);
		return OPT_USAGE;
	}
	if (r == OPT_GO && a->foreground && a->background) {
		opt_usage_error(&os, "--foreground and --background exclude each other");
		return OPT_USAGE;
	}
	return r;
}

int daemon_args_load(const struct daemon_args *a, struct conf **out, struct err *e)
{
	const struct conf_input in = { .file = a->config,
				       .environ_ = (const char *const *)environ,
				       .set = a->set,
				       .nset = a->nset };

	struct conf *c = NULL;
	int rc = conf_load(&a->schema, &in, &c, e);

	if (!rc && log_areas_check(daemon_args_own(a, c)->log_areas))
		rc = err_set(e, ERR_PARSE,
			     "%s: log-areas: at most %d of AREA=LEVEL by commas are expected",
			     conf_origin(c, "log-areas"), LOG_AREAS_MAX);
	if (rc)
		conf_free(c);
	else
		*out = c;
	return rc;
}

const struct daemon_own *daemon_args_own(const struct daemon_args *a, const struct conf *c)
{
	return (const struct daemon_own *)(const void *)((const uint8_t *)conf_values(c) +
							 a->own_offset);
}
