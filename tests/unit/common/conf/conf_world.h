/* SPDX-License-Identifier: Apache-2.0 */
/* A schema with a key of every kind, and a scratch folder with etc/ and user/. */
#ifndef TESTS_UNIT_COMMON_CONF_CONF_WORLD_H
#define TESTS_UNIT_COMMON_CONF_CONF_WORLD_H

#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/conf/conf_internal.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct site {
	const char *name;
	const char *hosts;
	int64_t weight;
};

struct values {
	bool flag;
	int64_t port, wait, size;
	const char *text, *secret;
	int choice;
	int64_t inner;
	struct site *site;
	size_t nsite;
};

static const char *const choices[] = { "one", "two", NULL };
#define AT(f) offsetof(struct values, f)
static const struct conf_key keys[] = {
	{ .name = "flag",
	  .kind = CONF_BOOL,
	  .offset = AT(flag),
	  .def = "no",
	  .flags = CONF_RELOAD,
	  .help = "a flag" },
	{ .name = "port",
	  .kind = CONF_INT,
	  .offset = AT(port),
	  .def = "7",
	  .min = 1,
	  .max = 65535,
	  .flags = CONF_OPTION,
	  .help = "a port" },
	{ .name = "wait",
	  .kind = CONF_NSEC,
	  .offset = AT(wait),
	  .def = "1500ms",
	  .max = 3600 * NSEC_PER_SEC,
	  .flags = CONF_RELOAD,
	  .help = "a time" },
	{ .name = "size",
	  .kind = CONF_BYTES,
	  .offset = AT(size),
	  .def = "4k",
	  .max = INT64_C(1) << 40,
	  .help = "a size" },
	{ .name = "a-text",
	  .kind = CONF_STRING,
	  .offset = AT(text),
	  .def = "",
	  .max = 10,
	  .help = "a text" },
	{ .name = "secret",
	  .kind = CONF_STRING,
	  .offset = AT(secret),
	  .def = "",
	  .flags = CONF_SECRET,
	  .help = "hush" },
	{ .name = "choice",
	  .kind = CONF_CHOICE,
	  .offset = AT(choice),
	  .def = "two",
	  .choice = choices,
	  .help = "a choice" },
	{ .section = "in",
	  .name = "port",
	  .kind = CONF_INT,
	  .offset = AT(inner),
	  .def = "5",
	  .help = "inside" },
	{ .section = "site",
	  .name = "hosts",
	  .kind = CONF_STRING,
	  .offset = offsetof(struct site, hosts),
	  .def = "*",
	  .help = "hosts of the site" },
	{ .section = "site",
	  .name = "weight",
	  .kind = CONF_INT,
	  .offset = offsetof(struct site, weight),
	  .def = "1",
	  .help = "its weight" },
	{ 0 },
};
static const struct conf_group groups[] = { { "site", sizeof(struct site), AT(site), AT(nsite) },
					    { 0 } };
static const struct conf_schema schema = { "prog", sizeof(struct values), keys, groups };

/* --- a scratch folder with etc/ and user/ */

static char dir[64], etc[80], user[80];
static struct conf_input in;

static inline void set_up(void)
{
	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(etc, sizeof(etc), "%s/etc", dir);
	snprintf(user, sizeof(user), "%s/user", dir);
	mkdir(etc, 0755);
	mkdir(user, 0700);
	in = (struct conf_input){ .etc_dir = etc, .user_dir = user };
}

static inline void clean_up(void)
{
	static const char *const files[] = { "etc/prog.conf.d/10-a.conf",
					     "etc/prog.conf.d/20-b.conf",
					     "etc/prog.conf.d/note",
					     "etc/prog.conf.d",
					     "etc/prog.conf",
					     "etc",
					     "user/prog.conf",
					     "user",
					     "f",
					     "link",
					     "open/f",
					     "open" };
	char path[128];

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		remove(path);
	}
	rmdir(dir);
}

static inline const char *put(const char *name, const char *text)
{
	static char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	chmod(path, 0644);
	return path;
}

static inline struct conf *load(void)
{
	struct conf *c = NULL;
	struct err e = { 0 };

	ck_assert_msg(!conf_load(&schema, &in, &c, &e), "%s", e.text);
	return c;
}

static inline int load_bytes(const char *p, size_t n, struct err *e)
{
	struct conf *c = NULL;
	int rc = conf_load_text(&schema, "f.conf", bytes_at(p, n), &c, e);

	conf_free(c);
	return rc;
}

#endif
