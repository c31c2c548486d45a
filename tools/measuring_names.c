/* SPDX-License-Identifier: Apache-2.0 */
/* Objects by their names: hosts, sites, ranks. */
#include "common/base/str.h"
#include "common/omis/value.h"
#include "tools/measuring.h"
#include "tools/tree_fields.h"

#include <stdio.h>
#include <string.h>

static bool read_name(const Omis_value *o, struct measured_name *out)
{
	const char *host = value_text(o, TREE_HOST);

	*out = (struct measured_name){ .token = value_text(o, TREE_TOKEN),
				       .parent = value_text(o, TREE_PARENT),
				       .name = value_text(o, TREE_NAME),
				       .rank = value_int(o, TREE_RANK),
				       .pid = value_int(o, TREE_PID),
				       .has_ended = str_eq(value_text(o, TREE_STATE), "ended") };
	if (out->token[0] == 'n' && host[0])
		out->name = host;
	return out->token[0];
}

bool measuring_name(const struct measuring *m, const char *token, struct measured_name *out)
{
	for (size_t i = 0; m->tree && i < m->tree->n; i++)
		if (str_eq(value_text(&m->tree->list[i], TREE_TOKEN), token))
			return read_name(&m->tree->list[i], out);
	return false;
}

static void label_process(const struct measuring *m, const struct measured_name *p, char *out, size_t size)
{
	struct measured_name node = { .name = "" };

	measuring_name(m, p->parent, &node);
	if (p->rank >= 0)
		snprintf(out, size, "rank%lld@%s", (long long)p->rank, node.name);
	else
		snprintf(out, size, "pid%lld@%s", (long long)p->pid, node.name);
}

void measuring_label(const struct measuring *m, const char *token, char *out, size_t size)
{
	struct measured_name n;

	if (!token[0])
		str_copy(out, size, "all");
	else if (!measuring_name(m, token, &n))
		str_copy(out, size, token);
	else if (token[0] == 'p')
		label_process(m, &n, out, size);
	else
		str_copy(out, size, n.name);
}

void measuring_label_of(const struct measuring *m, const struct measured *v, char *out, size_t size)
{
	char with[256];
	size_t n;

	measuring_label(m, v->object, out, size);
	if (!v->with[0])
		return;
	n = strlen(out);
	if (m->wish->each_partner)
		measuring_label(m, v->with, with, sizeof(with));
	snprintf(out + n, size - n, m->wish->each_partner ? " > %s" : " in %s", m->wish->each_partner ? with : v->with);
}

static bool is_meant(const struct measured_name *n, const char *word)
{
	int64_t rank;

	if (str_eq(n->token, word))
		return true;
	if (n->token[0] == 'p')
		return n->rank >= 0 && !n->has_ended && !str_to_i64(word, 0, INT32_MAX, &rank) && rank == n->rank;
	return (n->token[0] == 'n' || n->token[0] == 's') && str_eq(n->name, word);
}

static int put_one(const struct measuring *m, const char *word, struct omis_writer *w)
{
	struct measured_name n;
	size_t found = 0;

	for (size_t i = 0; m->tree && i < m->tree->n; i++)
		if (read_name(&m->tree->list[i], &n) && is_meant(&n, word)) {
			omis_write_token(w, n.token);
			found++;
		}
	return found ? CMD_OK : cmd_fail(CMD_NOTFOUND, "there is no site, host, rank or token '%s' (a rank is one that runs)", word);
}

int measuring_objects(const struct measuring *m, const char *list, struct buf *out)
{
	struct omis_writer w = OMIS_WRITER(out);
	char word[256];
	int rc = CMD_OK;

	if (str_eq(list, "all"))
		return CMD_OK;
	while (rc == CMD_OK && *list) {
		size_t n = strcspn(list, ",");

		if (n >= sizeof(word))
			return cmd_fail(CMD_NOTFOUND, "no object has such a name");
		memcpy(word, list, n);
		word[n] = 0;
		rc = put_one(m, word, &w);
		list += n + (list[n] == ',');
	}
	return rc;
}
