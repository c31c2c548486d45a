/* SPDX-License-Identifier: Apache-2.0 */
#include "common/link/connstr.h"

#include "common/base/file.h"
#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX "omig1:"
#define DIGITS "0123456789"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define NAME_CHARS DIGITS LOWER UPPER ".-_"
#define ADDRESS_CHARS DIGITS LOWER UPPER ".:%-_" /* an IPv6 address may have a zone */
#define TOKEN_CHARS DIGITS LOWER UPPER "-_"

static int copy_word(const char *from, size_t n, const char *chars, char *out, size_t size)
{
	if (!n || n >= size || strspn(from, chars) < n)
		return -ERR_PARSE;
	memcpy(out, from, n);
	out[n] = 0;
	return 0;
}

/* Parses one host at *s, and advances *s behind it. */
static int take_host(const char **s, char *out)
{
	const char *p = *s;
	size_t n;

	if (*p != '[') {
		n = strspn(p, NAME_CHARS);
		*s = p + n;
		return copy_word(p, n, NAME_CHARS, out, NAME_MAX_BYTES + 1);
	}
	n = strspn(p + 1, ADDRESS_CHARS);
	if (p[n + 1] != ']' || !memchr(p + 1, ':', n))
		return -ERR_PARSE;
	*s = p + n + 2;
	return copy_word(p + 1, n, ADDRESS_CHARS, out, NAME_MAX_BYTES + 1);
}

static int take_port(const char **s, uint16_t *out)
{
	char digits[6];
	uint64_t v;
	size_t n = strspn(*s, DIGITS);

	if (copy_word(*s, n, DIGITS, digits, sizeof(digits)) ||
	    str_to_u64(digits, 1, UINT16_MAX, &v))
		return -ERR_PARSE;
	*s += n;
	*out = (uint16_t)v;
	return 0;
}

static int take_hosts(const char **s, struct connstr *c)
{
	do {
		if (c->nhost == CONNSTR_HOSTS_MAX || take_host(s, c->host[c->nhost]))
			return -ERR_PARSE;
		c->nhost++;
	} while (**s == ',' && (*s)++);
	return 0;
}

static int take_colon(const char **s)
{
	return *(*s) == ':' && (*s)++ ? 0 : -ERR_PARSE;
}

/* Converts any spelling that base32 permits to the canonical one. */
static int take_pin(const char **s, struct connstr *c)
{
	size_t n = strspn(*s, DIGITS LOWER UPPER);
	uint8_t raw[16];
	char pin[CONNSTR_PIN_LEN + 1];

	if (n != CONNSTR_PIN_LEN || copy_word(*s, n, DIGITS LOWER UPPER, pin, sizeof(pin)) ||
	    str_from_base32(raw, sizeof(raw), pin))
		return -ERR_PARSE;
	str_base32(c->pin, raw, sizeof(raw));
	*s += n;
	return 0;
}

static int take_token(const char **s, struct connstr *c)
{
	size_t n = strspn(*s, TOKEN_CHARS);

	if (copy_word(*s, n, TOKEN_CHARS, c->token_id, sizeof(c->token_id)) || (*s)[n] != '.')
		return -ERR_PARSE;
	*s += n + 1;
	n = strspn(*s, TOKEN_CHARS);
	if (copy_word(*s, n, TOKEN_CHARS, c->secret, sizeof(c->secret)))
		return -ERR_PARSE;
	*s += n;
	return 0;
}

static const char *skip_blank(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

/* Returns the name of the invalid part, or NULL. */
static const char *take_all(const char *s, struct connstr *c)
{
	if (!str_has_prefix(s, PREFIX))
		return "it must begin with " PREFIX;
	s += strlen(PREFIX);
	if (take_hosts(&s, c))
		return "the host is wrong";
	if (take_colon(&s) || take_port(&s, &c->port))
		return "the port is wrong";
	if (take_colon(&s) || take_pin(&s, c))
		return "the pin (26 letters and digits) is wrong";
	if (*s == ':' && (s++, take_token(&s, c)))
		return "the token (ID.SECRET) is wrong";
	return *skip_blank(s) ? "something follows its end" : NULL;
}

int connstr_parse(const char *s, struct connstr *out, struct err *e)
{
	struct connstr c = { .nhost = 0 };
	const char *wrong;

	if (strnlen(s, CONNSTR_MAX_BYTES + 1) > CONNSTR_MAX_BYTES)
		return err_set(e, ERR_PARSE, "not a connection string: longer than %d bytes",
			       CONNSTR_MAX_BYTES);
	wrong = take_all(skip_blank(s), &c);
	if (!wrong)
		*out = c;
	str_wipe(c.secret, sizeof(c.secret));
	return wrong ? err_set(e, ERR_PARSE, "not a connection string: %s", wrong) : 0;
}

static void put_host(const char *host, struct buf *b)
{
	bool is_v6 = strchr(host, ':');

	buf_printf(b, "%s%s%s", is_v6 ? "[" : "", host, is_v6 ? "]" : "");
}

static int result(const struct buf *b)
{
	return b->failed ? -ERR_NOMEM : 0;
}

int connstr_print(const struct connstr *c, bool with_token, struct buf *b)
{
	buf_puts(b, PREFIX);
	for (unsigned i = 0; i < c->nhost; i++) {
		if (i)
			buf_putc(b, ',');
		put_host(c->host[i], b);
	}
	buf_printf(b, ":%u:%s", c->port, c->pin);
	if (with_token && c->token_id[0])
		buf_printf(b, ":%s.%s", c->token_id, c->secret);
	return result(b);
}

static int read_conn(const char *path, struct connstr *out, struct err *e)
{
	struct buf text = BUF_INIT(CONNSTR_MAX_BYTES);
	int rc = file_read(path, CONNSTR_MAX_BYTES, FILE_SECRET, &text, e);

	if (!rc) {
		rc = connstr_parse(buf_str(&text), out, e);
		if (rc)
			err_add(e, "%s", path);
	}
	if (text.p)
		str_wipe(text.p, text.n);
	buf_done(&text);
	return rc;
}

static int find_in_state(const char *state_dir, struct connstr *out, struct err *e)
{
	char path[FILE_PATH_BYTES];
	int rc = file_join(path, sizeof(path), state_dir, "mainsm/mainsm.conn", e);

	return rc ? rc : read_conn(path, out, e);
}

int connstr_own(const char *state_dir, const char *pin, struct connstr *out, struct err *e)
{
	struct connstr own = { .nhost = 0 };
	int rc = find_in_state(state_dir, &own, e);

	if (!rc && strcmp(own.pin, pin) != 0)
		rc = err_set(e, ERR_NOTFOUND, "mainsm.conn is of another monitor");
	if (!rc)
		*out = own;
	str_wipe(own.secret, sizeof(own.secret));
	return rc;
}

bool connstr_is_for_lms(const struct connstr *c)
{
	return str_has_prefix(c->token_id, CONNSTR_LM_PREFIX);
}

int connstr_find(const struct connstr_source *s, struct connstr *out, struct err *e)
{
	const char *env = getenv("OMIG_MAINSM");
	int rc = -ERR_NOTFOUND;

	if (s->given && *s->given == '@')
		return read_conn(s->given + 1, out, e);
	if (s->given && *s->given)
		return connstr_parse(s->given, out, e);
	if (env && *env) {
		rc = connstr_parse(env, out, e);
		if (rc)
			err_add(e, "OMIG_MAINSM");
		else if (s->state_dir && (s->prefers_own || !out->token_id[0]))
			connstr_own(s->state_dir, out->pin, out, NULL);
		return rc;
	}
	if (s->state_dir)
		rc = find_in_state(s->state_dir, out, e);
	if (rc == -ERR_NOTFOUND)
		return err_set(
			e, ERR_NOTFOUND,
			"no mainsm is known: omig run starts one, or mainsm; or put its connection "
			"string into OMIG_MAINSM");
	return rc;
}

void connstr_caid(const struct connstr *c, char out[CONNSTR_CAID_LEN + 1])
{
	memcpy(out, c->pin, CONNSTR_CAID_LEN);
	out[CONNSTR_CAID_LEN] = 0;
}

int hostport_print(const char *host, uint16_t port, struct buf *b)
{
	put_host(host, b);
	buf_printf(b, ":%u", port);
	return result(b);
}

int hostport_parse(const char *s, char *host, uint16_t *port, struct err *e)
{
	char found[NAME_MAX_BYTES + 1];
	uint16_t p;

	if (take_host(&s, found) || take_colon(&s) || take_port(&s, &p) || *s)
		return err_set(e, ERR_PARSE, "not an address of the form host:port");
	str_copy(host, NAME_MAX_BYTES + 1, found);
	*port = p;
	return 0;
}
