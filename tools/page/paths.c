/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/page/paths.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/omis/text/value.h"
#include "pmsl/check/builtin.h"
#include "tools/page/page_text.h"
#include "tools/session/session.h"

#include <stdlib.h>
#include <string.h>

#define REQUEST_MAX_BYTES (4 * WEB_BODY_MAX_BYTES) /* of a text with each byte escaped */
#define DIAGS_MAX 20

/* Own scripts and styles only, and no string becomes markup. */
static const char page_headers[] =
	"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
	"img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'; require-trusted-types-for 'script'\r\n"
	"Referrer-Policy: no-referrer\r\n"
	"Cross-Origin-Opener-Policy: same-origin\r\n"
	"Cross-Origin-Resource-Policy: same-origin\r\n"
	"Permissions-Policy: camera=(), geolocation=(), microphone=()\r\n";

static const char json_type[] = "application/json";

/* --- answers */

static void put_failure(struct web_answer *a, int status, const char *text)
{
	struct json j;

	a->status = status;
	a->type = json_type;
	json_init(&j, a->body);
	json_object(&j);
	json_key_str(&j, "error", text);
	json_object_end(&j);
}

static void put_done(struct web_answer *a)
{
	a->type = json_type;
	buf_puts(a->body, "{}");
}

static void put_asset(struct web_answer *a, const char *type, const char *text, bool is_lasting)
{
	a->type = type;
	a->is_lasting = is_lasting;
	buf_puts(a->body, text);
}

/* --- streams */

static unsigned tabs_of(const struct page *p, const struct keys_entry *key)
{
	unsigned n = 0;

	list_each (i, &p->viewers)
		n += list_entry(i, struct viewer, item)->key == key;
	return n;
}

static void put_hello(const struct viewer *v, struct web_answer *a)
{
	struct json j;

	json_init(&j, a->body);
	json_object(&j);
	json_key_str(&j, "t", "hello");
	json_key_str(&j, "key", v->key->text);
	json_key_u64(&j, "viewer", v->id);
	json_key_u64(&j, "charts_max", VIEWER_CHARTS_MAX);
	json_key_str(&j, "version", omis_library_version());
	json_object_end(&j);
	buf_putc(a->body, '\n');
}

static void open_stream(struct page *p, const struct keys_entry *key, struct web_answer *a)
{
	struct viewer *v;

	if (p->nviewer >= PAGE_VIEWERS_MAX) {
		put_failure(a, 503, "16 pages are open, which is the most");
		return;
	}
	if (tabs_of(p, key) >= PAGE_TABS_MAX) {
		put_failure(a, 429,
			    "four tabs of this browser are open, which is the most: a browser "
			    "opens six connections to a server");
		return;
	}
	v = viewer_new(++p->last_viewer, key);
	if (!v) {
		a->status = 500;
		return;
	}
	list_push_back(&p->viewers, &v->item);
	p->nviewer++;
	a->type = "application/x-ndjson";
	a->viewer = v;
	put_hello(v, a);
}

static bool more(void *arg, void *viewer, struct buf *out)
{
	struct page *p = arg;
	struct viewer *v = viewer;

	if (!keys_use(&p->keys, v->key->text, clock_mono()))
		return false;
	viewer_put(v, &p->scene, &p->charts, out);
	return true;
}

static void gone(void *arg, void *viewer)
{
	struct page *p = arg;
	struct viewer *v = viewer;

	for (size_t i = 0; i < VIEWER_CHARTS_MAX; i++)
		if (v->chart[i].id)
			charts_leave(&p->charts, v->chart[i].id);
	list_del(&v->item);
	p->nviewer--;
	viewer_free(v);
}

/* --- what pages send */

struct posted {
	struct page *page;
	const struct keys_entry *key;
	const struct form *form;
	struct viewer *viewer; /* of this key; NULL: none such */
	struct web_answer *a;
};

static struct viewer *find_viewer(const struct posted *q)
{
	int64_t id = form_number(q->form, "viewer", 0, INT32_MAX, 0);

	list_each (i, &q->page->viewers) {
		struct viewer *v = list_entry(i, struct viewer, item);

		if (v->id == (unsigned)id && v->key == q->key)
			return v;
	}
	return NULL;
}

static void look(struct posted *q)
{
	viewer_look(q->viewer, q->form);
	put_done(q->a);
}

static void put_diags(struct json *j, const Omis_value *diags)
{
	json_key_array(j, "diagnoses");
	for (size_t i = 0; i < DIAGS_MAX && value_at(diags, i); i++) {
		const Omis_value *d = value_at(diags, i);

		json_object(j);
		json_key_str(j, "kind", value_text(d, 0));
		json_key_i64(j, "at", value_int(d, 1));
		json_key_i64(j, "bytes", value_int(d, 2));
		json_key_i64(j, "line", value_int(d, 3));
		json_key_i64(j, "column", value_int(d, 4));
		json_key_str(j, "text", value_text(d, 5));
		json_key_str(j, "hint", value_text(d, 6));
		json_object_end(j);
	}
	json_array_end(j);
	json_key_u64(j, "more",
		     diags && diags->n > DIAGS_MAX ? (uint64_t)(diags->n - DIAGS_MAX) : 0);
}

static void put_check(struct web_answer *a, const Omis_value *v)
{
	const Omis_value *metrics = value_at(v, 1);
	struct json j;

	a->type = json_type;
	json_init(&j, a->body);
	json_object(&j);
	put_diags(&j, value_at(v, 0));
	json_key_array(&j, "metrics");
	for (size_t i = 0; value_at(metrics, i); i++)
		json_str(&j, value_text(value_at(metrics, i), 0));
	json_array_end(&j);
	json_object_end(&j);
}

/* The diagnoses and metrics of a text, as mainsm gives them. */
static void check(struct posted *q)
{
	const char *text = form_text(q->form, "text");
	struct buf request = BUF_INIT(REQUEST_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&request);
	Omis_value *v = NULL;
	char words[256] = "";
	int rc;

	buf_puts(&request, ":dfg_check(");
	omis_write_string(&w, text ? text : "");
	buf_putc(&request, ')');
	cmd_hush(words, sizeof(words));
	rc = session_ask_long(&v, buf_str(&request), request.n);
	cmd_hush(NULL, 0);
	buf_done(&request);
	if (rc == CMD_OK && v)
		put_check(q->a, v);
	else
		put_failure(q->a, 503, words[0] ? words : "mainsm does not answer");
	omis_value_free(v);
}

static const char *refusal(const struct chart_wanted *w)
{
	static const char *const groups[] = { "", "process", "node", "site" };

	if (!w->metric || !w->metric[0])
		return "which metric?";
	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		if (str_eq(w->by, groups[i]))
			return NULL;
	return "by process, node, site or nothing";
}

static void open_chart(struct posted *q)
{
	const char *text = form_text(q->form, "text"), *by = form_text(q->form, "by");
	const struct chart_wanted w = { .metric = form_text(q->form, "metric"),
					.text = text ? text : "",
					.by = by ? by : "",
					.rate = form_number(q->form, "rate", 0, 1, 0) != 0 };
	const char *wrong = refusal(&w);
	char why[256] = "";
	struct chart *c;
	struct json j;

	if (q->page->scene.lost_at) { /* no refusal: a page tries again when mainsm is back */
		put_failure(q->a, 503, "mainsm is not connected");
		return;
	}
	c = wrong ? NULL : charts_open(&q->page->charts, &w, why, sizeof(why));
	if (!c) {
		put_failure(q->a, 409, wrong ? wrong : why);
		return;
	}
	if (viewer_has_chart(q->viewer, c->id)) {
		charts_leave(&q->page->charts, c->id);
	} else if (!viewer_add_chart(q->viewer, c->id)) {
		charts_leave(&q->page->charts, c->id);
		put_failure(q->a, 409, "this page has six charts: close one");
		return;
	}
	q->a->type = json_type;
	json_init(&j, q->a->body);
	json_object(&j);
	json_key_u64(&j, "id", c->id);
	json_object_end(&j);
}

static void drop_chart(struct posted *q)
{
	unsigned id = (unsigned)form_number(q->form, "id", 0, INT32_MAX, 0);

	if (viewer_drop_chart(q->viewer, id))
		charts_leave(&q->page->charts, id);
	put_done(q->a);
}

static void post_known(struct page *p, const struct web_request *q, const struct form *f,
		       struct web_answer *a)
{
	static const struct {
		const char *path;
		void (*fn)(struct posted *q);
	} paths[] = { { "/look", look },
		      { "/check", check },
		      { "/chart", open_chart },
		      { "/drop", drop_chart } };
	struct posted posted = {
		.page = p, .key = keys_use(&p->keys, q->bearer, clock_mono()), .form = f, .a = a
	};

	if (!posted.key) {
		a->status = 401;
		return;
	}
	posted.viewer = find_viewer(&posted);
	a->status = 404;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		if (!str_eq(q->path, paths[i].path))
			continue;
		a->status = 0;
		p->choices++;
		if (posted.viewer)
			paths[i].fn(&posted);
		else
			put_failure(a, 409, "this page has no stream");
	}
}

static void trade(struct page *p, const struct form *f, struct web_answer *a)
{
	const char *token = form_text(f, "token");
	const struct keys_entry *key = NULL;
	struct err e = { 0 };
	int rc;

	list_each (i, &p->viewers) /* keys of open pages are in use, however long a turn was */
		keys_use(&p->keys, list_entry(i, struct viewer, item)->key->text, clock_mono());
	rc = keys_trade(&p->keys, token ? token : "", clock_mono(), &key, &e);
	if (rc)
		put_failure(a, rc == -ERR_DENIED ? 401 : rc == -ERR_LIMIT ? 429 : 500, e.text);
	else
		open_stream(p, key, a);
}

static void answer_post(struct page *p, const struct web_request *q, struct web_answer *a)
{
	struct form f = { .n = 0 };
	struct err e = { 0 };

	if (form_read(&f, q->body, q->nbody, &e))
		put_failure(a, 400, e.text);
	else if (str_eq(q->path, "/in"))
		trade(p, &f, a);
	else
		post_known(p, q, &f, a);
	form_done(&f);
}

/* --- metrics to choose from: [name, unit, is a total, object, text] */

static void put_metric(struct json *j, const struct pmsl_builtin *m)
{
	json_array(j);
	json_str(j, m->name);
	json_str(j, m->unit);
	json_bool(j, m->is_total);
	json_str(j, m->object == PMSL_T_PROCESS ? "process"
		    : m->object == PMSL_T_NODE	? "node"
						: "");
	json_str(j, m->text);
	json_array_end(j);
}

static void list_metrics(struct web_answer *a)
{
	struct pmsl_builtin m;
	struct json j;

	a->type = json_type;
	json_init(&j, a->body);
	json_array(&j);
	for (unsigned id = 0; id < pmsl_builtin_ids(); id++)
		if (pmsl_builtin_get(id, &m) && !m.is_of_region && !m.is_by_mount)
			put_metric(&j, &m);
	json_array_end(&j);
}

/* --- all paths */

static void answer(void *arg, const struct web_request *q, struct web_answer *a)
{
	struct page *p = arg;
	const struct keys_entry *key;

	if (q->is_post) {
		answer_post(p, q, a);
		return;
	}
	if (str_eq(q->path, "/")) {
		put_asset(a, "text/html; charset=utf-8", page_html, false);
	} else if (str_eq(q->path, page_css_path)) {
		put_asset(a, "text/css; charset=utf-8", page_css_text, true);
	} else if (str_eq(q->path, page_js_path)) {
		put_asset(a, "text/javascript; charset=utf-8", page_js_text, true);
	} else if (!str_eq(q->path, "/stream") && !str_eq(q->path, "/metrics")) {
		a->status = 404;
	} else if (!(key = keys_use(&p->keys, q->bearer, clock_mono()))) {
		a->status = 401;
	} else if (str_eq(q->path, "/stream")) {
		open_stream(p, key, a);
	} else {
		list_metrics(a);
	}
}

int page_init(struct page *p, const char *job, nsec_t every)
{
	memset(p, 0, sizeof(*p));
	list_init(&p->viewers);
	p->charts.job = job;
	p->charts.every = every;
	return scene_init(&p->scene, job, every);
}

void page_done(struct page *p)
{
	charts_done(&p->charts);
	scene_done(&p->scene);
	keys_wipe(&p->keys);
}

void page_conf(struct page *p, struct web_conf *conf)
{
	conf->answer = answer;
	conf->more = more;
	conf->gone = gone;
	conf->page_headers = page_headers;
	conf->arg = p;
}
