/* SPDX-License-Identifier: Apache-2.0 */
#include "model/layered/named.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <string.h>

bool layered_is_name(const char *text)
{
	size_t n = strlen(text);

	return str_is_name(text, n) && n < LAYERED_NAME_BYTES && !str_eq(text, "-1");
}

static size_t find(const void *first, size_t n, size_t size, const char *text)
{
	for (size_t i = 0; i < n; i++)
		/* a processor, a task and an entry begin with their names */
		if (str_eq((const char *)first + i * size, text))
			return i;
	return LAYERED_NOTHING;
}

size_t layered_find_processor(const struct layered *m, const char *text)
{
	return find(m->processor, m->nprocessor, sizeof(*m->processor), text);
}

size_t layered_find_task(const struct layered *m, const char *text)
{
	return find(m->task, m->ntask, sizeof(*m->task), text);
}

size_t layered_find_entry(const struct layered *m, const char *text)
{
	return find(m->entry, m->nentry, sizeof(*m->entry), text);
}

int layered_add_processor(struct layered *m, const struct layered_processor *p)
{
	int rc = array_grow(&m->processor, &m->processor_cap, m->nprocessor + 1, sizeof(*p),
			    LAYERED_PROCESSORS_MAX);

	if (!rc)
		m->processor[m->nprocessor++] = *p;
	return rc;
}

int layered_add_task(struct layered *m, const struct layered_task *t)
{
	int rc = array_grow(&m->task, &m->task_cap, m->ntask + 1, sizeof(*t), LAYERED_TASKS_MAX);

	if (!rc)
		m->task[m->ntask++] = *t;
	return rc;
}

int layered_add_entry(struct layered *m, const struct layered_entry *v)
{
	int rc = array_grow(&m->entry, &m->entry_cap, m->nentry + 1, sizeof(*v),
			    LAYERED_ENTRIES_MAX);

	if (!rc)
		m->entry[m->nentry++] = *v;
	return rc;
}

int layered_add_call(struct layered *m, const struct layered_call *c)
{
	int rc = array_grow(&m->call, &m->call_cap, m->ncall + 1, sizeof(*c), LAYERED_CALLS_MAX);

	if (!rc)
		m->call[m->ncall++] = *c;
	return rc;
}
