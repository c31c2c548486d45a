/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/libomis/answer.h"

#include "common/base/limits.h"

#include <stdlib.h>
#include <string.h>

/* Private data, stored before the array that the tool receives. */
struct answer {
	Omis_coverage coverage;
	/* the tool's Omis_reply; objects, missing and texts follow it */
	Omis_service_result service[];
};

static struct answer *answer_of(Omis_reply r)
{
	return (struct answer *)((char *)r - offsetof(struct answer, service));
}

/* Parts of the single allocation. */
struct layout {
	size_t services, objects, missing, text;
};

static bool is_wanted(const struct reply_entry *n, Omis_flags flags)
{
	return !(flags & OMIS_DONT_RETURN_OK) || n->status != STATUS_OK || n->nvalue > 0;
}

static struct layout measure(const struct reply *r, Omis_flags flags)
{
	struct layout l = { .services = 1 };
	const struct reply_coverage *c = &r->coverage;

	for (size_t i = 0; i < r->nentry; i++) {
		if (r->entry[i].action >= l.services)
			l.services = (size_t)r->entry[i].action + 1;
		if (!is_wanted(&r->entry[i], flags))
			continue;
		l.objects++;
		l.text += strlen(r->entry[i].objects) + 1 + r->entry[i].nvalue + 1;
	}
	l.objects += l.services; /* each array has its end */
	for (size_t i = 0; i < c->nmissing; i++)
		l.text += strlen(c->missing[i].object) + strlen(c->missing[i].reason) + 2;
	l.missing = c->nmissing;
	return l;
}

static char *put_text(char **at, const char *p, size_t n)
{
	char *s = *at;

	memcpy(s, p, n);
	s[n] = '\0';
	*at += n + 1;
	return s;
}

static void put_entry(Omis_object_result *o, const struct reply_entry *n, char **text)
{
	o->obj_list = put_text(text, n->objects, strlen(n->objects));
	o->status = (Omis_status)n->status;
	o->result = n->nvalue > 0 ? put_text(text, n->value, n->nvalue) : NULL;
	o->result_len = n->nvalue;
}

struct filling {
	struct answer *a;
	Omis_object_result *results; /* room for the results of all services */
	size_t services;
	size_t *n; /* of each service, zeroed */
	char *text; /* room */
};

/* Entries arrive in any order of actions. The order within an action is kept. */
static void put_services(struct filling *f, const struct reply *r, Omis_flags flags)
{
	Omis_object_result *o = f->results;
	size_t *n = f->n;

	for (size_t i = 0; i < r->nentry; i++)
		n[r->entry[i].action] += is_wanted(&r->entry[i], flags);
	for (size_t i = 0; i < f->services; i++) {
		f->a->service[i] = o;
		o += n[i] + 1; /* zero already: the end */
		n[i] = 0;
	}
	for (size_t i = 0; i < r->nentry; i++) {
		const struct reply_entry *e = &r->entry[i];

		if (is_wanted(e, flags))
			put_entry(&f->a->service[e->action][n[e->action]++], e, &f->text);
	}
}

static void put_missing(struct answer *a, Omis_missing *m, const struct reply_coverage *c,
			char **text)
{
	for (size_t i = 0; i < c->nmissing; i++) {
		m[i].object = put_text(text, c->missing[i].object, strlen(c->missing[i].object));
		m[i].reason = put_text(text, c->missing[i].reason, strlen(c->missing[i].reason));
	}
	a->coverage = (Omis_coverage){ .asked = c->asked,
				       .answered = c->answered,
				       .n_missing = (unsigned)c->nmissing,
				       .missing = m,
				       .oldest_ns = c->oldest_ns,
				       .newest_ns = c->newest_ns };
}

/*
 * A hostile action number must not create a huge array: entries of actions beyond ours are invalid.
 */
static bool is_sound(const struct reply *r)
{
	for (size_t i = 0; i < r->nentry; i++)
		if (r->entry[i].action > OMIS_REQUEST_MAX_BYTES)
			return false;
	return true;
}

Omis_reply answer_from_reply(const struct reply *r, Omis_flags flags)
{
	struct layout l;
	struct answer *a;
	Omis_object_result *o;
	Omis_missing *m;
	size_t *n;
	struct filling f;

	if (!is_sound(r))
		return answer_from_status(OMIS_INTERNAL_ERROR,
					  "mainsm sent a reply that cannot be one");
	l = measure(r, flags);
	n = calloc(l.services, sizeof(*n));
	a = calloc(1, sizeof(*a) + (l.services + 1) * sizeof(a->service[0]) +
			      l.objects * sizeof(*o) + l.missing * sizeof(*m) + l.text);
	if (!a || !n) {
		free(a);
		free(n);
		return NULL;
	}
	o = (Omis_object_result *)(void *)(a->service + l.services + 1);
	m = (Omis_missing *)(void *)(o + l.objects);
	f = (struct filling){ .a = a,
			      .results = o,
			      .services = l.services,
			      .n = n,
			      .text = (char *)(m + l.missing) };
	put_services(&f, r, flags);
	put_missing(a, m, &r->coverage, &f.text);
	free(n);
	return a->service;
}

Omis_reply answer_from_words(Omis_status status, const char *words, size_t n)
{
	struct reply_entry only = {
		.status = (uint32_t)status, .objects = "", .value = words, .nvalue = n
	};
	struct reply r = { .entry = &only, .nentry = 1 };

	return answer_from_reply(&r, 0);
}

Omis_reply answer_from_status(Omis_status status, const char *words)
{
	return answer_from_words(status, words, strlen(words));
}

int answer_is_empty(Omis_reply r)
{
	for (; *r; r++)
		if ((*r)->obj_list)
			return 0;
	return 1;
}

void omis_reply_free(Omis_reply reply)
{
	if (reply)
		free(answer_of(reply));
}

void omis_reply_coverage(Omis_reply reply, Omis_coverage *out)
{
	memset(out, 0, sizeof(*out));
	if (reply)
		*out = answer_of(reply)->coverage;
}

Omis_status omis_reply_status(Omis_reply reply)
{
	Omis_status first;

	if (!reply)
		return OMIS_NO_MEMORY;
	first = reply[0] && reply[0]->obj_list ? reply[0]->status : OMIS_OK;
	if (first != OMIS_OK)
		return first;
	for (; *reply; reply++)
		for (Omis_service_result s = *reply; s->obj_list; s++)
			if (s->status >= OMIS_FIRST_ERROR)
				return s->status;
	return OMIS_OK;
}
