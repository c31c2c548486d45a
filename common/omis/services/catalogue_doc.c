/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue as text, for the manual, for users, and for the shell. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/omis/services/catalogue.h"

#include <string.h>

static const char *type_word(const struct omis_param *p)
{
	static const char *const words[] = { "int", "float", "string", "token", "binary", "any" };

	return words[p->type];
}

void omis_print_signature(struct buf *b, const struct omis_service *s)
{
	buf_printf(b, "%s(", s->name);
	for (const struct omis_param *p = s->param; p->name; p++)
		buf_printf(b, "%s%s%s %s%s%s", p == s->param ? "" : ", ", type_word(p),
			   p->list ? "*" : "", p->name, p->def ? " = " : "", p->def ? p->def : "");
	buf_puts(b, ")");
}

/* Writes text such as "dest_node", "$par0 .. $par15". */
static void print_ecps(struct buf *b, const struct omis_service *s)
{
	const char *at = s->ecps;
	size_t len;

	if (str_eq(s->ecps, "par")) {
		buf_printf(b, "$par0 .. $par%d", OMIS_PAR_ECPS - 1);
		return;
	}
	for (; *at; at += len + (at[len] == ' ')) {
		len = strcspn(at, " ");
		buf_printf(b, "%s$%.*s", at == s->ecps ? "" : ", ", (int)len, at);
	}
}

static bool is_shown(const struct omis_service *s)
{
	return !(s->flags & OMIS_INTERNAL);
}

struct section {
	const char *title;
	const char *extension;
	enum omis_class class;
};

static const struct section sections[] = {
	{ "Information", "", OMIS_INFO },
	{ "Manipulation", "", OMIS_MANIP },
	{ "Events", "", OMIS_EVENT },
	{ "Sites (extension site)", "site", 0 },
	{ "Counters and integrators (extension pa)", "pa", 0 },
	{ "Filtered events (extension patop)", "patop", 0 },
	{ "Traces (extension trace)", "trace", 0 },
	{ "Files and probes (extension ocmg)", "ocmg", 0 },
	{ "Measurements (extension dfg)", "dfg", 0 },
	{ "This monitor (extension omig)", "omig", 0 },
};

static bool belongs(const struct omis_service *s, const struct section *to)
{
	return is_shown(s) && str_eq(s->extension, to->extension) &&
	       (*to->extension || s->class == to->class);
}

/* Escapes characters that would begin an emphasis in scdoc and Markdown. */
static void put_escaped(struct buf *b, const char *s)
{
	for (; *s; s++) {
		if (strchr("_*\\<", *s))
			buf_putc(b, '\\');
		buf_putc(b, (uint8_t)*s);
	}
}

static void put_signature(struct buf *b, const struct omis_service *s)
{
	struct buf plain = BUF_INIT(4096);

	omis_print_signature(&plain, s);
	put_escaped(b, buf_str(&plain));
	b->failed |= plain.failed;
	buf_done(&plain);
}

static void put_facts(struct buf *b, const struct omis_service *s, const char *end)
{
	struct buf ecps = BUF_INIT(4096);

	buf_printf(b, "%s; at: %s; right: %s; %s.", omis_class_name(s->class),
		   omis_where_name(s->where), omis_right_name(s->right), omis_state_name(s->state));
	if (s->result) {
		buf_printf(b, "%sResult: ", end);
		put_escaped(b, s->result);
		buf_puts(b, ".");
	}
	if (s->ecps) {
		print_ecps(&ecps, s);
		buf_printf(b, "%sContext: ", end);
		put_escaped(b, buf_str(&ecps));
		buf_puts(b, ".");
	}
	b->failed |= ecps.failed;
	buf_done(&ecps);
}

static void each_of(struct buf *b, const struct section *of,
		    void (*fn)(struct buf *, const struct omis_service *))
{
	const struct omis_service *s;

	for (size_t i = 0; (s = omis_service_at(i)); i++)
		if (belongs(s, of))
			fn(b, s);
}

static void scdoc_entry(struct buf *b, const struct omis_service *s)
{
	buf_puts(b, "*");
	put_signature(b, s);
	buf_puts(b, "*\n\t");
	put_escaped(b, s->help);
	buf_puts(b, "\n\n\t");
	put_facts(b, s, "++\n");
	buf_puts(b, "\n\n");
}

void omis_print_scdoc(struct buf *b)
{
	for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
		buf_printf(b, "## %s\n\n", sections[i].title);
		each_of(b, &sections[i], scdoc_entry);
	}
}

static void markdown_entry(struct buf *b, const struct omis_service *s)
{
	buf_puts(b, "| `");
	omis_print_signature(b, s);
	buf_printf(b, "` | %s | %s | %s | %s |\n", omis_class_name(s->class),
		   omis_state_name(s->state), omis_where_name(s->where), omis_right_name(s->right));
}

void omis_print_markdown(struct buf *b)
{
	for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
		buf_printf(
			b,
			"%s## %s\n\n| service | class | state | runs at | right |\n|---|---|---|---|---|\n",
			i ? "\n" : "", sections[i].title);
		each_of(b, &sections[i], markdown_entry);
	}
}

void omis_print_completion(struct buf *b)
{
	const struct omis_service *s;

	for (size_t i = 0; (s = omis_service_at(i)); i++) {
		if (!is_shown(s))
			continue;
		buf_printf(b, "%s\t%s\t%s\t", s->name, omis_class_name(s->class),
			   omis_state_name(s->state));
		omis_print_signature(b, s);
		buf_printf(b, "\t%s\n", s->help);
	}
}
