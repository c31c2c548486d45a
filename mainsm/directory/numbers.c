/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/directory/numbers.h"

#include "common/base/buf.h"
#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/container/map.h"
#include "common/store/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RUNNING_BITS 20

static const struct store_kind names_kind = { .what = "names",
					      .version = 1,
					      .max_bytes = NUMBERS_NAMES_MAX * 64 };
static const struct store_kind boot_kind = { .what = "boot-count", .version = 1, .max_bytes = 64 };

struct numbers {
	char names_path[FILE_PATH_BYTES], boot_path[FILE_PATH_BYTES];
	struct store names, boots; /* path NULL = memory only */
	struct smap by_name; /* "site" or "site<TAB>host" -> the number */
	uint32_t last_site, last_node;
	uint64_t boot;
	uint32_t running[NUMBER_KINDS];
	bool dirty;
};

static int learn(struct numbers *n, const char *key, uint32_t number, bool is_node)
{
	uint32_t *last = is_node ? &n->last_node : &n->last_site;

	if (n->by_name.n >= NUMBERS_NAMES_MAX)
		return -ERR_LIMIT;
	if (smap_put(&n->by_name, key, (void *)(uintptr_t)number, NULL))
		return -ERR_NOMEM;
	if (number > *last)
		*last = number;
	return 0;
}

/* number <TAB> site [<TAB> host] */
static int parse_name(void *arg, char *line, struct err *e)
{
	struct numbers *n = arg;
	char *key = strchr(line, '\t');
	uint64_t number;
	int rc;

	if (!key)
		return err_set(e, ERR_PARSE, "a name has two or three fields");
	*key++ = 0;
	if (str_to_u64(line, 1, UINT32_MAX - 1, &number) || !*key)
		return err_set(e, ERR_PARSE, "'%s' is not a number of a name", line);
	rc = learn(n, key, (uint32_t)number, strchr(key, '\t') != NULL);
	return rc ? err_set(e, (enum err_code)(-rc), "too many names") : 0;
}

static int parse_boot(void *arg, char *line, struct err *e)
{
	struct numbers *n = arg;

	if (str_to_u64(line, 0, (1u << 30) - 1, &n->boot))
		return err_set(e, ERR_PARSE, "this is not a boot count");
	n->boot++;
	return 0;
}

static int save_boot(struct numbers *n, struct err *e)
{
	struct buf b = BUF_INIT(boot_kind.max_bytes);
	int rc;

	buf_printf(&b, "%" PRIu64 "\n", n->boot);
	rc = n->boots.path ? store_write(&n->boots, &b, e) : 0;
	buf_done(&b);
	return rc;
}

static int load(struct numbers *n, const struct disk *disk, const char *dir, struct err *e)
{
	int rc = file_join(n->names_path, sizeof(n->names_path), dir, "names", e);

	if (!rc)
		rc = file_join(n->boot_path, sizeof(n->boot_path), dir, "boot", e);
	n->names = STORE_INIT(&names_kind, disk, n->names_path);
	n->boots = STORE_INIT(&boot_kind, disk, n->boot_path);
	if (!rc)
		rc = store_read_lines(&n->names, parse_name, n, e);
	if (!rc)
		rc = store_read_lines(&n->boots, parse_boot, n, e);
	return rc ? rc : save_boot(n, e);
}

int numbers_open(const struct disk *disk, const char *dir, struct numbers **out, struct err *e)
{
	struct numbers *n = calloc(1, sizeof(*n));
	int rc;

	if (!n)
		return err_nomem(e);
	smap_init(&n->by_name);
	rc = dir ? load(n, disk, dir, e) : 0;
	if (rc) {
		numbers_free(n);
		return rc;
	}
	*out = n;
	return 0;
}

void numbers_free(struct numbers *n)
{
	if (!n)
		return;
	smap_done(&n->by_name);
	free(n);
}

static int find_or_add(struct numbers *n, const char *key, bool is_node, uint32_t *out)
{
	void *found = smap_find(&n->by_name, key);
	uint32_t number = is_node ? n->last_node + 1 : n->last_site + 1;
	int rc;

	if (!found) {
		rc = learn(n, key, number, is_node);
		if (rc)
			return rc;
		n->dirty = true;
	}
	*out = found ? (uint32_t)(uintptr_t)found : number;
	return 0;
}

int numbers_site(struct numbers *n, const char *site, uint32_t *out)
{
	return find_or_add(n, site, false, out);
}

uint32_t numbers_sites(const struct numbers *n)
{
	return n->last_site;
}

int numbers_node(struct numbers *n, const char *site, const char *host, uint32_t *out)
{
	char key[2 * NAME_MAX_BYTES + 2];

	snprintf(key, sizeof(key), "%s\t%s", site, host);
	return find_or_add(n, key, true, out);
}

uint64_t numbers_mint(struct numbers *n, enum number_kind kind)
{
	if (n->running[kind] + 1 >= 1u << RUNNING_BITS) {
		/* All kinds start again above the next boot count; a failed write costs uniqueness
		 * after a crash only. */
		n->boot++;
		memset(n->running, 0, sizeof(n->running));
		save_boot(n, NULL);
	}
	return n->boot << RUNNING_BITS | ++n->running[kind];
}

bool numbers_is_dirty(const struct numbers *n)
{
	return n->dirty;
}

int numbers_flush(struct numbers *n, struct err *e)
{
	struct buf b = BUF_INIT(names_kind.max_bytes);
	struct smap_iter i = { 0 };
	int rc;

	while (smap_next(&n->by_name, &i))
		buf_printf(&b, "%u\t%s\n", (unsigned)(uintptr_t)i.value, i.key);
	rc = n->names.path ? store_write(&n->names, &b, e) : 0;
	buf_done(&b);
	if (!rc)
		n->dirty = false;
	return rc;
}
