/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/run/apps.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "neko/algorithms/abcast.h"
#include "neko/algorithms/broadcast.h"
#include "neko/algorithms/fd.h"
#include "neko/algorithms/raft.h"

#include <dlfcn.h>
#include <string.h>

int apps_nothing(struct neko_process *p, struct setup *s, struct err *e)
{
	return 0;
}

const struct neko_kind apps[] = {
	{ "heartbeat", "sends heartbeats to all others", fd_heartbeat, NULL },
	{ "silence", "detects when nothing came for a fixed time", fd_silence, NULL },
	{ "nfd-s", "detects by freshness points, with synchronised clocks (Chen et al.)", fd_nfds,
	  NULL },
	{ "nfd-e", "detects by freshness points, with any clocks", fd_nfde, NULL },
	{ "adaptive",
	  "detects by freshness points with a margin that follows the network (Bertier et al.)",
	  fd_adaptive, NULL },
	{ "phi", "detects by the probability of the silence (Hayashibara et al.)", fd_phi, NULL },
	{ "broadcast", "broadcasts reliably: all that are up deliver, or none (Hadzilacos, Toueg)",
	  broadcast_init, &broadcast_measure },
	{ "abcast-ct", "broadcasts in one order, by consensus (Chandra, Toueg)", abcast_ct_init,
	  &abcast_measure },
	{ "abcast-seq", "broadcasts in one order, by a sequencer and views of members",
	  abcast_seq_init, &abcast_measure },
	{ "raft", "elects a leader, at most one in each term (Ongaro, Ousterhout)", raft_init,
	  &raft_measure },
	{ "none", "does nothing", apps_nothing, NULL },
	{ NULL, NULL, NULL, NULL },
};

static const struct neko_kind *find_in(const struct neko_kind *k, const char *name,
				       struct nearest *n)
{
	for (; k && k->name; k++) {
		if (str_eq(k->name, name))
			return k;
		nearest_try(n, k->name);
	}
	return NULL;
}

int apps_find(const char *name, const struct neko_kind *own, const struct neko_kind **out,
	      struct err *e)
{
	struct nearest n = nearest_to(name);
	const struct neko_kind *k = find_in(own, name, &n);

	if (!k)
		k = find_in(apps, name, &n);
	if (!k)
		return err_set(e, ERR_NOTFOUND, "there is no '%s'; %s%s", name,
			       n.best ? "did you mean " : "see omig neko list",
			       n.best ? n.best : "");
	*out = k;
	return 0;
}

/* Checks the table of a shared object as far as possible. The object's code is trusted anyway. */
static int check_kinds(const struct neko_kind *k, const char *path, struct err *e)
{
	for (size_t i = 0; k && k[i].name; i++) {
		if (i == APPS_KINDS_MAX || !str_is_name(k[i].name, strlen(k[i].name)) || !k[i].init)
			return err_set(
				e, ERR_INVALID,
				"%s: kind %zu is invalid: it needs a name and init, and { 0 } at the "
				"end",
				path, i + 1);
		if (k[i].measure && !k[i].measure->handle)
			return err_set(e, ERR_INVALID, "%s: the measure of %s has no handle", path,
				       k[i].name);
	}
	return k ? 0 : err_set(e, ERR_INVALID, "%s: it has no kinds of processes", path);
}

static int check_application(const struct neko_application *a, const char *path, struct err *e)
{
	static const uint32_t bytes[] = { sizeof(struct neko_msg), sizeof(struct neko_layer_ops),
					  sizeof(struct neko_measure), sizeof(struct neko_event) };

	_Static_assert(sizeof(bytes) == sizeof(a->bytes), "each has its place");
	if (a->abi != NEKO_ABI || memcmp(a->bytes, bytes, sizeof(bytes)) != 0)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s was built with another version of <omig/neko.h>; build it again",
			       path);
	return check_kinds(a->kinds, path, e);
}

static int check_nets(const struct neko_networks *a, const char *path, struct err *e)
{
	static const uint32_t bytes[] = { sizeof(struct neko_net_ops), sizeof(struct neko_msg) };
	const struct neko_net_ops *n = a->all;

	_Static_assert(sizeof(bytes) == sizeof(a->bytes), "each has its place");
	if (a->abi != NEKO_ABI || memcmp(a->bytes, bytes, sizeof(bytes)) != 0)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s was built with another version of <omig/neko.h>; build it again",
			       path);
	for (size_t i = 0; n && n[i].name; i++)
		if (i == APPS_KINDS_MAX || !str_is_name(n[i].name, strlen(n[i].name)) ||
		    (!n[i].send && !n[i].open))
			return err_set(
				e, ERR_INVALID,
				"%s: network %zu is invalid: it needs a name with send or open, and "
				"{ 0 } at the end",
				path, i + 1);
	return n ? 0 : err_set(e, ERR_INVALID, "%s: it has no networks", path);
}

static int check_clocks(const struct neko_clocks *a, const char *path, struct err *e)
{
	const struct neko_clock_ops *c = a->all;

	if (a->abi != NEKO_ABI || a->bytes != sizeof(*c))
		return err_set(e, ERR_UNSUPPORTED,
			       "%s was built with another version of <omig/neko.h>; build it again",
			       path);
	for (size_t i = 0; c && c[i].name; i++)
		if (i == APPS_KINDS_MAX || !str_is_name(c[i].name, strlen(c[i].name)) ||
		    !c[i].sample || !c[i].now)
			return err_set(
				e, ERR_INVALID,
				"%s: clock %zu is invalid: it needs a name with sample and now, and "
				"{ 0 } at the end",
				path, i + 1);
	return c ? 0 : err_set(e, ERR_INVALID, "%s: it has no clocks", path);
}

static int read_tables(void *object, const char *path, struct apps_object *out, struct err *e)
{
	const struct neko_application *a = dlsym(object, "neko_application");
	const struct neko_networks *n = dlsym(object, "neko_networks");
	const struct neko_clocks *c = dlsym(object, "neko_clocks");
	int rc = 0;

	if (!a && !n && !c)
		return err_set(e, ERR_INVALID,
			       "%s has no NEKO_APPLICATION(kinds), NEKO_NETWORKS(nets) or "
			       "NEKO_CLOCKS(clocks); see <omig/neko.h>",
			       path);
	if (a)
		rc = check_application(a, path, e);
	if (!rc && n)
		rc = check_nets(n, path, e);
	if (!rc && c)
		rc = check_clocks(c, path, e);
	*out = (struct apps_object){ .kinds = a ? a->kinds : NULL,
				     .nets = n ? n->all : NULL,
				     .clocks = c ? c->all : NULL };
	return rc;
}

int apps_load(const char *path, struct apps_object *out, struct err *e)
{
	void *object;
	int rc;

	/* Without a slash the loader would search the folders of the system. */
	if (!strchr(path, '/'))
		return err_set(e, ERR_INVALID, "'%s' has no folder; write ./%s", path, path);
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		return err_set(e, ERR_NOTFOUND, "%s", dlerror());
	rc = read_tables(object, path, out, e);
	if (rc)
		dlclose(object);
	return rc;
}

int apps_find_net(const char *name, const struct neko_net_ops *nets,
		  const struct neko_net_ops **out, struct err *e)
{
	struct nearest n = nearest_to(name);

	for (; nets && nets->name; nets++) {
		if (str_eq(nets->name, name)) {
			*out = nets;
			return 0;
		}
		nearest_try(&n, nets->name);
	}
	return err_set(e, ERR_NOTFOUND, "there is no network '%s' in the shared object; %s%s", name,
		       n.best ? "did you mean "
			      : "write application = ./mine.so, with NEKO_NETWORKS()",
		       n.best ? n.best : "");
}

int apps_find_clock(const char *name, const struct neko_clock_ops *clocks,
		    const struct neko_clock_ops **out, struct err *e)
{
	struct nearest n = nearest_to(name);

	for (; clocks && clocks->name; clocks++) {
		if (str_eq(clocks->name, name)) {
			*out = clocks;
			return 0;
		}
		nearest_try(&n, clocks->name);
	}
	return err_set(e, ERR_NOTFOUND, "there is no clock '%s' in the shared object; %s%s", name,
		       n.best ? "did you mean "
			      : "write application = ./mine.so, with NEKO_CLOCKS()",
		       n.best ? n.best : "");
}
