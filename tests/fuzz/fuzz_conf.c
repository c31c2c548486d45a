/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration file: any text yields a configuration or file:line; a dump loads to the same.
 */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "common/conf/conf_internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	  .help = "h" },
	{ .name = "port",
	  .kind = CONF_INT,
	  .offset = AT(port),
	  .def = "1",
	  .min = 1,
	  .max = 65535,
	  .help = "h" },
	{ .name = "wait",
	  .kind = CONF_NSEC,
	  .offset = AT(wait),
	  .def = "1s",
	  .min = 0,
	  .max = 3600 * NSEC_PER_SEC,
	  .help = "h" },
	{ .name = "size", .kind = CONF_BYTES, .offset = AT(size), .def = "4k", .help = "h" },
	{ .name = "text",
	  .kind = CONF_STRING,
	  .offset = AT(text),
	  .def = "",
	  .max = 100,
	  .help = "h" },
	{ .name = "choice",
	  .kind = CONF_CHOICE,
	  .offset = AT(choice),
	  .def = "one",
	  .choice = choices,
	  .help = "h" },
	{ .section = "in",
	  .name = "port",
	  .kind = CONF_INT,
	  .offset = AT(inner),
	  .def = "5",
	  .help = "h" },
	{ .section = "site",
	  .name = "hosts",
	  .kind = CONF_STRING,
	  .offset = offsetof(struct site, hosts),
	  .def = "*",
	  .help = "h" },
	{ .section = "site",
	  .name = "weight",
	  .kind = CONF_INT,
	  .offset = offsetof(struct site, weight),
	  .def = "1",
	  .help = "h" },
	{ 0 },
};
static const struct conf_group groups[] = { { "site", sizeof(struct site), AT(site), AT(nsite) },
					    { 0 } };
static const struct conf_schema schema = { "fuzz", sizeof(struct values), keys, groups };

static int load(const void *p, size_t n, struct conf **out, struct err *e)
{
	return conf_load_text(&schema, "f.conf", bytes_at(p, n), out, e);
}

static void check_again(const struct conf *c)
{
	struct buf one = BUF_INIT(4 << 20), two = BUF_INIT(4 << 20), shown = BUF_INIT(4 << 20);
	struct conf *again = NULL;
	struct err e = { 0 };

	if (conf_dump(c, &one) || load(one.p, one.n, &again, &e) || conf_dump(again, &two))
		abort();
	if (one.n != two.n || memcmp(one.p, two.p, one.n) != 0 || conf_show(c, &shown))
		abort();
	for (const struct conf_key *k = keys; k->name; k++)
		if (conf_differs(c, again, k->name))
			abort();
	if (conf_differs(c, again, "site"))
		abort();
	conf_free(again);
	buf_done(&one);
	buf_done(&two);
	buf_done(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct conf *c = NULL;
	struct err e = { 0 };

	if (load(data, size, &c, &e)) {
		if (c || !e.line || !str_has_prefix(e.text, "f.conf:"))
			abort();
		return 0;
	}
	check_again(c);
	conf_free(c);
	return 0;
}
