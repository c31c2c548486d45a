/* SPDX-License-Identifier: Apache-2.0 */
#include "common/json/failure.h"

#define FAILURE_MAX_BYTES 65536 /* enough for any message with each byte escaped */

void json_key_failure(struct json *j, int status, const char *text)
{
	json_key_object(j, "error");
	json_key_i64(j, "status", status);
	json_key_str(j, "text", text);
	json_object_end(j);
}

void json_print_failure(FILE *to, int status, const char *text)
{
	struct buf b = BUF_INIT(FAILURE_MAX_BYTES);
	struct json j;

	json_init(&j, &b);
	json_object(&j);
	json_key_failure(&j, status, text);
	json_object_end(&j);
	if (!json_end(&j))
		fprintf(to, "%s\n", buf_str(&b));
	buf_done(&b);
}
