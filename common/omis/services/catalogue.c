/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/omis/services/services.h"

#include <string.h>

/* By prefix, so that few names are compared; "" has all others, and is searched last. */
static const struct {
	const char *prefix;
	const struct omis_services *services;
} parts[] = {
	{ "node_", &omis_services_node },     { "proc_", &omis_services_proc },
	{ "thread_", &omis_services_thread }, { "message_", &omis_services_message },
	{ "", &omis_services_misc },	      { "site_", &omis_services_site },
	{ "pa_", &omis_services_pa },	      { "patop_", &omis_services_patop },
	{ "trace_", &omis_services_trace },   { "dfg_", &omis_services_dfg },
	{ "omig_job_", &omis_services_jobs }, { "omig_site_", &omis_services_users },
	{ "omig_", &omis_services_omig },
};

static const char *const extension_names[] = { "ocmg",	"site", "pa",	"patop",
					       "trace", "dfg",	"omig", "plugin" };

static int compare(const char *name, size_t n, const char *other)
{
	int order = strncmp(name, other, n);

	return order ? order : other[n] ? -1 : 0;
}

static const struct omis_service *find_in(const struct omis_services *s, const char *name, size_t n)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare(name, n, s->v[middle].name);

		if (!order)
			return &s->v[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const struct omis_service *omis_service_find(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		size_t len = strlen(parts[i].prefix);

		if (len && n > len && !memcmp(name, parts[i].prefix, len))
			return find_in(parts[i].services, name, n);
	}
	return find_in(&omis_services_misc, name, n);
}

const struct omis_service *omis_service_at(size_t at)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (at < parts[i].services->n)
			return &parts[i].services->v[at];
		at -= parts[i].services->n;
	}
	return NULL;
}

size_t omis_service_count(void)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		n += parts[i].services->n;
	return n;
}

size_t omis_service_nparam(const struct omis_service *s)
{
	size_t n = 0;

	while (s->param[n].name)
		n++;
	return n;
}

int omis_par_number(const char *name, size_t n)
{
	int k = 0;

	if (n < 4 || n > 5 || memcmp(name, "par", 3) || (n == 5 && name[3] == '0'))
		return -1;
	for (size_t i = 3; i < n; i++) {
		if (name[i] < '0' || name[i] > '9')
			return -1;
		k = k * 10 + name[i] - '0';
	}
	return k < OMIS_PAR_ECPS ? k : -1;
}

/* True if the name is one of the words, which are separated by blanks. */
static bool has_word(const char *words, const char *name, size_t n)
{
	size_t len;

	for (; *words; words += len + (words[len] == ' ')) {
		len = strcspn(words, " ");
		if (len == n && !memcmp(words, name, n))
			return true;
	}
	return false;
}

bool omis_service_has_ecp(const struct omis_service *event, const char *name, size_t n)
{
	if (has_word("node proc thread time csr", name, n))
		return true;
	if (!event->ecps)
		return false;
	if (omis_par_number(name, n) >= 0)
		return has_word(event->ecps, "par", 3);
	return !(n == 3 && !memcmp(name, "par", 3)) && has_word(event->ecps, name, n);
}

const char *omis_class_name(enum omis_class c)
{
	static const char *const names[] = { "information", "manipulation", "event" };

	return (size_t)c < ARRAY_LEN(names) ? names[c] : "?";
}

const char *omis_right_name(enum omis_right r)
{
	static const char *const names[] = { "none", "observe", "manipulate", "admin" };

	return (size_t)r < ARRAY_LEN(names) ? names[r] : "?";
}

const char *omis_state_name(enum omis_state s)
{
	static const char *const names[] = { "unsupported", "partly", "done" };

	return (size_t)s < ARRAY_LEN(names) ? names[s] : "?";
}

const char *omis_where_name(enum omis_where w)
{
	static const char *const names[] = { "top", "node", "rank", "each", "event" };

	return (size_t)w < ARRAY_LEN(names) ? names[w] : "?";
}

static bool is_offered(const struct omis_service *s, const char *extension, enum omis_state state)
{
	return s->state == state && !(s->flags & OMIS_INTERNAL) && str_eq(s->extension, extension);
}

static void write_names(struct omis_writer *w, const char *extension, enum omis_state state)
{
	const struct omis_service *s;
	int64_t n = 0;

	for (size_t i = 0; (s = omis_service_at(i)); i++)
		n += is_offered(s, extension, state);
	omis_write_int(w, n);
	for (size_t i = 0; (s = omis_service_at(i)); i++)
		if (is_offered(s, extension, state))
			omis_write_string(w, s->name);
}

int omis_write_services(struct omis_writer *w, const char *extension)
{
	bool known = !*extension;

	for (size_t i = 0; i < ARRAY_LEN(extension_names); i++)
		known |= str_eq(extension, extension_names[i]);
	if (!known)
		return -ERR_NOTFOUND;
	write_names(w, extension, OMIS_DONE);
	write_names(w, extension, OMIS_PARTLY);
	return 0;
}

void omis_write_extensions(struct omis_writer *w)
{
	omis_write_int(w, ARRAY_LEN(extension_names));
	for (size_t i = 0; i < ARRAY_LEN(extension_names); i++)
		omis_write_string(w, extension_names[i]);
}
