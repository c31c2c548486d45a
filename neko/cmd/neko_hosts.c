/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/cmd/neko_hosts.h"

#include "common/base/file.h"
#include "common/base/str.h"
#include "tools/term/say.h"
#include "tools/libomis/client.h"

#include <stdio.h>
#include <string.h>

#define ADDRESS_BYTES 64

static int identity(const struct neko_hosts_options *w, const char *role, char dir[FILE_PATH_BYTES],
		    struct connstr *mainsm, struct err *e)
{
	const struct client_conf conf = { .mainsm = w->mainsm, .timeout = w->timeout_ns };

	return client_identity(&conf, role, dir, mainsm, e);
}

int neko_hosts_run(const struct neko_hosts_options *h, struct run *r, const struct run_options *w,
		   struct run_counts *out, struct err *e)
{
	char dir[FILE_PATH_BYTES];
	struct connstr mainsm;
	const struct hosts_identity self = { dir, mainsm.pin };
	int rc = identity(h, "tool", dir, &mainsm, e);

	return rc ? rc : hosts_run(r, w, &(struct hosts_wanted){ h->list, self }, out, e);
}

static void on_ready(void *arg, uint16_t port)
{
	printf("%s:%u\n", (const char *)arg, port);
	fflush(stdout);
}

/* Parses "127.0.0.1:8765", "10.0.0.1", ":0". */
static int parse_listen(const char *text, char address[ADDRESS_BYTES], uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text);
	uint64_t number = HOSTS_PORT;

	if (n >= ADDRESS_BYTES || (colon && str_to_u64(colon + 1, 0, UINT16_MAX, &number)))
		return -1;
	memcpy(address, text, n);
	address[n] = 0;
	if (!n)
		str_copy(address, ADDRESS_BYTES, "127.0.0.1");
	*port = (uint16_t)number;
	return 0;
}

int neko_factory(const struct neko_hosts_options *w)
{
	char dir[FILE_PATH_BYTES], address[ADDRESS_BYTES];
	struct connstr mainsm;
	struct factory_conf conf = { .self = { dir, mainsm.pin },
				     .address = address,
				     .mainsm = &mainsm,
				     .takes_objects = w->takes_objects };
	struct err e = { 0 };

	if (parse_listen(w->listen, address, &conf.port))
		return cmd_fail(CMD_USAGE, "'%s' is not an address and port; write 10.0.0.1:8765",
				w->listen);
	if (identity(w, "factory", dir, &mainsm, &e))
		return cmd_fail(e.code == ERR_DENIED ? CMD_DENIED : CMD_UNREACHABLE, "%s", e.text);
	if (factory_run(&conf, on_ready, address, &e))
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	return CMD_OK;
}
