/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of a configuration: network = a, b; network.a.delay = exponential(20ms); ... */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/cli/opt.h"
#include "neko/run/run_internal.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUTS_MAX 64 /* enough for configurations written by hand */
#define FILE_PREFIX "file:"
/*
 * The usual multicast group; each network has its own. 239.255.0.0/16 stays within a site (RFC
 * 2365).
 */
#define GROUP_USUAL 0xefff4801 /* 239.255.72.1 */
#define GROUP_PORT 8766
#define GROUP_FIRST 0xe0000100 /* 224.0.1.0 */
#define GROUP_LAST 0xefffffff
#define RESENT_LOSS_MAX 0.9 /* a message is then sent ten times in the mean */
#define RATE_MAX 1e15 /* bits per second: more than the internet */

/* Names of Neko's classes of networks, which configurations for Neko contain. */
struct class
{
	const char *class, *name; /* name: part of keys, as in network.udp.delay */
	enum real_transport transport;
	const char *medium; /* NULL: a network with delays */
	const char *refusal; /* NULL: Omig has an equivalent */
};

#define CLASS_PREFIX "lse.neko.networks."
static const struct class classes[] = {
	{ "UDPNetwork", "udp", REAL_UDP, NULL, NULL },
	{ "TCPNetwork", "tcp", REAL_TCP, NULL, NULL },
	{ "MulticastNetwork", "multicast", REAL_MULTICAST, NULL, NULL },
	{ "RandomNetwork", "random", REAL_UDP, NULL, NULL },
	{ "EthernetNetwork", "ethernet", REAL_UDP, "ethernet", NULL },
	{ "CSMADCRNetwork", "csma_dcr", REAL_UDP, "csma_dcr", NULL },
	{ "FDDINetwork", "fddi", REAL_UDP, "fddi", NULL },
	{ "PMNetwork", "pm", REAL_UDP, NULL, "its library is no longer available; use UDPNetwork" },
	{ "EnsembleNetwork", "ensemble", REAL_UDP, NULL,
	  "its library is no longer available; use MulticastNetwork" },
	{ "MetricNetwork", "metric", REAL_UDP, NULL,
	  "write network = lan with network.lan.medium = ethernet, or a model of your own" },
};

/* Finds the class of a name. *out is NULL if the name is not a class. */
static int class_of(const char *name, const struct class **out, struct err *e)
{
	const char *last = strrchr(name, '.');

	*out = NULL;
	if (!last)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(classes) && str_has_prefix(name, CLASS_PREFIX); i++)
		if (str_eq(classes[i].class, last + 1))
			*out = &classes[i];
	if (!*out)
		return err_set(e, ERR_NOTFOUND,
			       "the class %s has no equivalent: UDPNetwork, TCPNetwork, "
			       "MulticastNetwork, RandomNetwork, EthernetNetwork, CSMADCRNetwork "
			       "and FDDINetwork of " CLASS_PREFIX "* have; write a name, and "
			       "network.NAME.model for one of your own",
			       name);
	if (!(*out)->refusal)
		return 0;
	return err_set(e, ERR_UNSUPPORTED, "the class %s has no equivalent: %s", name,
		       (*out)->refusal);
}

static void key_of(char key[SETUP_KEY_BYTES], const char *net, const char *what)
{
	snprintf(key, SETUP_KEY_BYTES, "network.%s.%s", net, what);
}

/* Reads "file:PATH": delays of a real run. */
static int replayed(struct setup *s, struct simnet_conf *c, const char *path, struct err *e)
{
	struct delaytrace *t = NULL;
	char key[SETUP_KEY_BYTES];
	const char *how;
	int rc = delaytrace_read(path, c->name, &t, e);

	key_of(key, c->name, "delay");
	if (rc)
		return setup_blame(s, key, e);
	c->trace = t;
	key_of(key, c->name, "replay");
	how = setup_get(s, key);
	if (!how || str_eq(how, "in_order"))
		return 0;
	c->is_resampled = str_eq(how, "resampled");
	if (c->is_resampled)
		return 0;
	err_set(e, ERR_INVALID, "'%s' is neither in_order nor resampled", how);
	return setup_blame(s, key, e);
}

static int shared_time(struct setup *s, const char *net, const char *what, nsec_t *inout,
		       struct err *e)
{
	char key[SETUP_KEY_BYTES];

	key_of(key, net, what);
	return setup_nsec(s, key, 0, INT64_MAX / 4, inout, e);
}

/* Reads "medium = ethernet". A shared medium determines the delays. */
static int medium(struct setup *s, struct simnet_conf *c, const char *name, struct err *e)
{
	char key[SETUP_KEY_BYTES];
	struct medium_conf *m = &c->medium;
	int rc;

	if (!medium_usual(name, m)) {
		err_set(e, ERR_NOTFOUND, "there is no '%s': ethernet, csma_dcr, fddi", name);
		key_of(key, c->name, "medium");
		return setup_blame(s, key, e);
	}
	key_of(key, c->name, "delay");
	if (setup_get(s, key)) {
		err_set(e, ERR_INVALID,
			"the medium of a shared line determines its delay; remove one of both lines");
		return setup_blame(s, key, e);
	}
	if (m->kind != MEDIUM_FDDI) {
		rc = shared_time(s, c->name, "slot", &m->slot, e);
		return rc ? rc : shared_time(s, c->name, "gap", &m->gap, e);
	}
	rc = shared_time(s, c->name, "ttrt", &m->ttrt, e);
	if (!rc)
		rc = shared_time(s, c->name, "hop", &m->hop, e);
	return rc ? rc : shared_time(s, c->name, "sync", &m->sync, e);
}

/* Reads "model = slotted": a network of the shared object, which reads its own settings. */
static int model(struct run *r, struct simnet_conf *c, const char *name, struct err *e)
{
	char key[SETUP_KEY_BYTES];

	key_of(key, c->name, "model");
	if (apps_find_net(name, r->own.nets, &c->own, e))
		return setup_blame(r->setup, key, e);
	c->setup = r->setup;
	return 0;
}

static int complete_model(struct simnet_conf *c, struct err *e)
{
	if (!c->own ||
	    (c->duplicate <= 0 && c->reorder <= 0 && c->resend == 0 && c->bits_per_s <= 0))
		return 0;
	return err_set(e, ERR_INVALID,
		       "network %s: its model carries the messages; of these settings only loss "
		       "and partition apply: remove the others",
		       c->name);
}

/*
 * Reads the settings that apply to all networks. Those that do not apply to a medium are refused.
 */
static int complete_medium(struct setup *s, struct simnet_conf *c, struct err *e)
{
	char key[SETUP_KEY_BYTES];
	int rc = 0;

	if (c->medium.kind == MEDIUM_NONE)
		return 0;
	if (c->bits_per_s > 0)
		c->medium.bits_per_s = c->bits_per_s;
	key_of(key, c->name, "header");
	if (setup_get(s, key))
		c->medium.header_bytes = c->header_bytes;
	c->medium.queue_bytes = c->queue_bytes;
	c->bits_per_s = 0;
	if (c->duplicate > 0 || c->reorder > 0 || c->resend > 0)
		rc = err_set(
			e, ERR_INVALID,
			"network %s: a shared line does not duplicate, reorder or resend messages; remove these "
			"lines",
			c->name);
	return rc;
}

static int delay(struct run *r, struct simnet_conf *c, const struct class *class, struct err *e)
{
	struct setup *s = r->setup;
	char key[SETUP_KEY_BYTES];
	const char *text;

	key_of(key, c->name, "model");
	text = setup_get(s, key);
	if (text)
		return model(r, c, text, e);
	key_of(key, c->name, "medium");
	text = setup_get(s, key);
	if (!text && class)
		text = class->medium;
	if (text)
		return medium(s, c, text, e);
	key_of(key, c->name, "delay");
	text = setup_get(s, key);
	c->lacks_delay = !text;
	if (r->is_part || !text)
		return 0;
	if (str_has_prefix(text, FILE_PREFIX))
		return replayed(s, c, text + strlen(FILE_PREFIX), e);
	return delay_parse(text, &c->delay, e) ? setup_blame(s, key, e) : 0;
}

static int chances(struct setup *s, struct simnet_conf *c, struct err *e)
{
	const struct {
		const char *what;
		double *into, max;
	} number[] = {
		{ "loss", &c->loss, 1 },
		{ "duplicate", &c->duplicate, 1 },
		{ "reorder", &c->reorder, 1 },
		{ "rate", &c->bits_per_s, RATE_MAX },
	};
	char key[SETUP_KEY_BYTES];
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(number) && !rc; i++) {
		key_of(key, c->name, number[i].what);
		rc = setup_double(s, key, 0, number[i].max, number[i].into, e);
	}
	return rc;
}

/* Reads resend. In a connection, messages wait for a resent one: so the default is ordered. */
static int resend(struct setup *s, struct simnet_conf *c, struct err *e)
{
	char key[SETUP_KEY_BYTES];
	int rc;

	key_of(key, c->name, "resend");
	rc = setup_nsec(s, key, 1, DELAY_RESEND_MAX, &c->resend, e);
	c->is_fifo = c->resend > 0;
	if (rc || !c->resend || c->loss <= RESENT_LOSS_MAX)
		return rc;
	err_set(e, ERR_INVALID,
		"at most %g of repeated messages may be lost, otherwise none arrives",
		RESENT_LOSS_MAX);
	return setup_blame(s, key, e);
}

static int line(struct setup *s, struct simnet_conf *c, struct err *e)
{
	char key[SETUP_KEY_BYTES];
	uint64_t header = 0;
	int rc;

	key_of(key, c->name, "reorder_by");
	rc = setup_nsec(s, key, 0, INT64_MAX / 4, &c->reorder_by, e);
	if (!rc)
		rc = resend(s, c, e);
	key_of(key, c->name, "fifo");
	if (!rc)
		rc = setup_bool(s, key, &c->is_fifo, e);
	key_of(key, c->name, "header");
	if (!rc)
		rc = setup_u64(s, key, 0, 65535, &header, e);
	key_of(key, c->name, "queue");
	if (!rc)
		rc = setup_u64(s, key, 1, INT64_MAX, &c->queue_bytes, e);
	c->header_bytes = (uint32_t)header;
	return rc;
}

/* Reads "10s..20s: 1 | 2; 30s..40s: 1, 3 | 2". */
static int partitions(struct run *r, struct simnet_conf *c, struct err *e)
{
	struct simcut *cut = NULL;
	char key[SETUP_KEY_BYTES], *copy, *rest = NULL, *one;
	const char *text;
	size_t cap = 0;
	int rc = 0;

	key_of(key, c->name, "partition");
	text = setup_get(r->setup, key);
	if (!text)
		return 0;
	copy = str_dup(text);
	if (!copy)
		return err_nomem(e);
	for (one = strtok_r(copy, ";", &rest); one && !rc; one = strtok_r(NULL, ";", &rest)) {
		rc = array_grow(&cut, &cap, c->ncut + 1, sizeof(*cut), CUTS_MAX);
		c->cut = cut;
		if (rc)
			rc = err_set(e, (enum err_code)(-rc), "too many partitions");
		else
			rc = simcut_parse(one, r->m, &cut[c->ncut++], e);
	}
	free(copy);
	return rc ? setup_blame(r->setup, key, e) : 0;
}

/* --- networks of a real run */

/* Reads "239.255.72.1". The range 224.0.0.0/24 is reserved for routing. */
static int group(struct setup *s, struct real_net *n, struct err *e)
{
	char key[SETUP_KEY_BYTES];
	struct in_addr a;
	const char *text;

	key_of(key, n->name, "group");
	text = setup_get(s, key);
	if (!text)
		return 0;
	if (inet_pton(AF_INET, text, &a) == 1) {
		n->group = ntohl(a.s_addr);
		if (n->group >= GROUP_FIRST && n->group <= GROUP_LAST)
			return 0;
	}
	err_set(e, ERR_INVALID,
		"'%s' is not a multicast group; write an address of 239.0.0.0/8, such as 239.255.72.1",
		text);
	return setup_blame(s, key, e);
}

/* Refuses two networks with the same group and port, which would receive each other's messages. */
static int check_group(const struct run *r, unsigned k, struct err *e)
{
	const struct real_net *own = &r->real_net[k];
	char key[SETUP_KEY_BYTES];

	for (const struct real_net *other = r->real_net; other < own; other++)
		if (own->transport == REAL_MULTICAST && other->transport == REAL_MULTICAST &&
		    own->group == other->group && own->port == other->port) {
			err_set(e, ERR_INVALID,
				"networks %s and %s have the same group and port; choose another "
				"network.%s.group",
				other->name, own->name, own->name);
			key_of(key, own->name, "transport");
			return setup_blame(r->setup, key, e);
		}
	return 0;
}

static int choose_transport(struct setup *s, struct real_net *n, struct err *e)
{
	static const char *const names[] = {
		[REAL_UDP] = "udp", [REAL_TCP] = "tcp", [REAL_MULTICAST] = "multicast"
	};
	char key[SETUP_KEY_BYTES];
	const char *text;

	key_of(key, n->name, "transport");
	text = setup_get(s, key);
	if (!text)
		return 0;
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(text, names[i])) {
			n->transport = (enum real_transport)i;
			return 0;
		}
	err_set(e, ERR_INVALID, "there is no transport '%s': udp, tcp or multicast", text);
	return setup_blame(s, key, e);
}

static int transport(struct run *r, unsigned k, const struct class *class, struct err *e)
{
	struct real_net *n = &r->real_net[k];
	uint64_t port = GROUP_PORT;
	char key[SETUP_KEY_BYTES];
	int rc;

	*n = (struct real_net){ .name = r->net[k].name,
				.group = GROUP_USUAL + k,
				.own = r->net[k].own };
	if (class)
		n->transport = class->transport;
	rc = choose_transport(r->setup, n, e);
	if (!rc)
		rc = group(r->setup, n, e);
	key_of(key, n->name, "port");
	if (!rc)
		rc = setup_u64(r->setup, key, 1, UINT16_MAX, &port, e);
	n->port = (uint16_t)port;
	return rc ? rc : check_group(r, k, e);
}

static int add_net(struct run *r, const char *name, struct err *e)
{
	struct simnet_conf *c = &r->net[r->nnet];
	const struct class *class;
	int rc = class_of(name, &class, e);

	if (rc)
		return rc;
	if (class)
		name = class->name;
	if (r->nnet == NEKO_NETS_MAX)
		return err_set(e, ERR_LIMIT, "a run has at most %d networks", NEKO_NETS_MAX);
	if (!*name || strlen(name) > 32 ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name))
		return err_set(e, ERR_INVALID,
			       "'%s' is not a name of a network: use small letters and digits",
			       name);
	for (unsigned i = 0; i < r->nnet; i++)
		if (str_eq(r->net[i].name, name))
			return err_set(e, ERR_EXISTS, "network %s is listed twice", name);
	c->name = str_dup(name);
	if (!c->name)
		return err_nomem(e);
	r->nnet++;
	rc = delay(r, c, class, e);
	if (!rc)
		rc = chances(r->setup, c, e);
	if (!rc)
		rc = line(r->setup, c, e);
	if (!rc)
		rc = complete_medium(r->setup, c, e);
	if (!rc)
		rc = complete_model(c, e);
	if (!rc)
		rc = transport(r, r->nnet - 1, class, e);
	return rc ? rc : partitions(r, c, e);
}

static int no_network(struct err *e)
{
	return err_set(e, ERR_INVALID,
		       "no network; write network = lan, and network.lan.delay = "
		       "exponential(20ms)");
}

int run_nets(struct run *r, struct err *e)
{
	const char *names = setup_get(r->setup, "network");
	char *copy, *rest = NULL;
	uint64_t index = 0;
	int rc = 0;

	if (!names)
		return no_network(e);
	copy = str_dup(names);
	if (!copy)
		return err_nomem(e);
	for (char *one = strtok_r(copy, ",", &rest); one && !rc; one = strtok_r(NULL, ",", &rest)) {
		rc = add_net(r, str_trim(one), e);
		if (rc && !e->line)
			setup_blame(r->setup, "network", e);
	}
	free(copy);
	if (!rc && !r->nnet) {
		no_network(e);
		rc = setup_blame(r->setup, "network", e);
	}
	if (rc)
		return rc;
	/*
	 * The key names the network of NekoStat's own messages, from 0. Here these use the streams
	 * to the master.
	 */
	return setup_u64(r->setup, "stat.network.index", 0, r->nnet - 1, &index, e);
}

int run_check_delays(const struct run *r, struct err *e)
{
	for (unsigned i = 0; i < r->nnet; i++) {
		const char *name = r->net[i].name;

		if (!r->net[i].lacks_delay)
			continue;
		err_set(e, ERR_INVALID,
			"network %s has no delay; write network.%s.delay = exponential(20ms)", name,
			name);
		return setup_blame(r->setup, "network", e);
	}
	return 0;
}

void run_nets_free(struct run *r)
{
	for (unsigned i = 0; i < r->nnet; i++) {
		free((void *)r->net[i].name);
		free((void *)r->net[i].cut);
		delaytrace_free((struct delaytrace *)(uintptr_t)r->net[i].trace);
	}
}
