/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of interaction networks. Any text is read or refused with a place. A network that can be
 * built is analysed and drawn, and its states add up.
 */
#include "common/base/limits.h"
#include "common/json/json.h"
#include "interaction/form/netjson.h"
#include "interaction/form/netput.h"
#include "interaction/netretime.h"
#include "interaction/picture/netpicture.h"
#include "interaction/set/netclock.h"
#include "interaction/set/netsplit.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

#define TEXT_MAX_BYTES (1u << 26)

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void draw(const struct network *w, const struct netanalysis *a)
{
	static const char *const node[NAME_MAX_BYTES + 1] = { "a", "b", "c", "d" };
	struct netpicture p = { .name = "x", .w = w, .a = a, .node = node, .words = "y\n" };
	struct buf out = BUF_INIT(TEXT_MAX_BYTES);
	struct err e = { 0 };

	demand(!netpicture_html(&out, &p, &e));
	p.is_equal = true;
	demand(!netpicture_svg(&out, &p, &e));
	demand(!netpicture_dot(&out, &p, &e));
	demand(!netpicture_chrome(&out, &p, &e));
	demand(!netpicture_otlp(&out, &p, &e));
	buf_done(&out);
}

static void put(const struct network *w, const struct netanalysis *a, const struct netretime *r)
{
	struct netretime_change c = { .head = a->path.step[a->path.n - 1].v };
	struct buf out = BUF_INIT(TEXT_MAX_BYTES);
	struct json j;

	json_init(&j, &out);
	json_object(&j);
	netput_result(&j, "x", w, a);
	netput_what_if(&j, w, &c, a->path.n > 1, r);
	json_object_end(&j);
	demand(!json_end(&j));
	buf_done(&out);
}

static int analyse(struct network *w)
{
	struct err e = { 0 };
	struct netanalysis a;
	struct netretime r;
	int64_t sum = 0;

	if (network_build(w, &e))
		return 0;
	demand(!netanalysis_run(w, &a, &e));
	for (size_t i = 0; i < a.spent.nuse; i++)
		sum += a.spent.use[i].ns;
	demand(sum == netpath_response(w));
	if (!netretime(w, NULL, 0, &r, &e)) {
		put(w, &a, &r);
		netretime_done(&r);
	}
	draw(w, &a);
	netanalysis_done(&a);
	return 0;
}

static int on_network(void *arg, const char *name, struct network *w, struct err *e)
{
	(void)arg;
	(void)name;
	(void)e;
	return analyse(w);
}

static int on_part(void *arg, const struct netsplit_part *p, struct err *e)
{
	(void)arg;
	(void)e;
	return p->outcome == NETSPLIT_WHOLE ? analyse(p->w) : 0;
}

static int on_event(void *arg, const struct network_event *ev, struct err *e)
{
	return netsplit_add(arg, ev, NULL, e);
}

static int on_node(void *arg, const char *name, uint32_t *out, struct err *e)
{
	(void)arg;
	(void)e;
	*out = (uint8_t)name[0] % 4;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct netuse *use = netuse_new();
	struct netsplit *split = use ? netsplit_new(use, 1000, on_part, NULL) : NULL;
	struct netjson_taker to = { on_network, on_event, on_node, NULL, split };
	struct netjson_report report = { 0 };
	struct jsonread r;
	struct err e = { 0 };

	demand(split != NULL);
	jsonread_init_bytes(&r, p, n);
	if (netjson_read(&r, use, &to, &report, &e))
		demand(e.line > 0 || e.code == ERR_LIMIT);
	else
		demand(!netsplit_end(split, &e));
	jsonread_done(&r);
	netsplit_free(split);
	netuse_free(use);
	return 0;
}
