/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/session/site.h"

#include "common/base/file.h"
#include "common/base/str.h"
#include "common/link/connstr.h"
#include "tools/term/say.h"

#include <glob.h>
#include <string.h>

static int from_file(const char *path, char *out)
{
	struct buf b = BUF_INIT(SITE_STRING_BYTES);
	struct err e = { 0 };
	int rc = file_read(path, SITE_STRING_BYTES - 1, 0, &b, &e);
	bool fits = !rc && str_copy(out, SITE_STRING_BYTES, buf_str(&b));

	if (b.p)
		str_wipe(b.p, b.n);
	buf_done(&b);
	if (rc)
		return cmd_fail(CMD_USAGE, "no connection string of a site: %s", e.text);
	out[strcspn(out, "\r\n")] = 0;
	return fits ? CMD_OK : cmd_fail(CMD_USAGE, "%s is too long", path);
}

/* place: the file, or the argument that replaces it. */
static int check_string(const char *place, const char *string)
{
	struct connstr c;
	struct err e = { 0 };
	int rc = connstr_parse(string, &c, &e);

	str_wipe(&c, sizeof(c));
	return rc ? cmd_fail(CMD_USAGE,
			     "%s: %s; the sm of the site writes join.conn for users and "
			     "admin.conn for admins",
			     place, e.text)
		  : CMD_OK;
}

int site_string(const char *given, char *out)
{
	bool is_file = !str_has_prefix(given, "omig1:");
	int rc = CMD_OK;

	if (is_file)
		rc = from_file(given, out);
	else if (!str_copy(out, SITE_STRING_BYTES, given))
		rc = cmd_fail(CMD_USAGE, "the connection string is too long");
	return rc == CMD_OK ? check_string(is_file ? given : "SITE", out) : rc;
}

int site_own_string(char *out)
{
	char dir[FILE_PATH_BYTES], pattern[FILE_PATH_BYTES + 32];
	struct err e = { 0 };
	glob_t found = { 0 };
	int rc;

	if (file_state_dir(dir, &e))
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	snprintf(pattern, sizeof(pattern), "%s/site-*/admin.conn", dir);
	rc = glob(pattern, 0, NULL, &found);
	if (!rc && found.gl_pathc == 1)
		rc = from_file(found.gl_pathv[0], out);
	else
		rc = cmd_fail(CMD_USAGE,
			      "%s of yours in %s: give --site FILE, the admin.conn of its sm",
			      rc ? "no shared sm" : "several shared sms", dir);
	globfree(&found);
	return rc;
}
