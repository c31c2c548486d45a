/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paths of omig web. Without a key: ./ and ./a/NAME, the page, which has no secret. POST ./in
 * {"token"} trades a token for a key and is a stream. With a key: ./stream and
 * ./metrics. With a key and a stream: POST ./look, ./check, ./chart, ./drop. No path is a file.
 */
#ifndef TOOLS_PAGE_PATHS_H
#define TOOLS_PAGE_PATHS_H

#include "tools/page/viewer.h"
#include "tools/web/web.h"

struct page {
	struct scene scene;
	struct charts_all charts;
	struct keys keys;
	struct list viewers;
	unsigned nviewer, last_viewer;
	uint64_t choices; /* changes when a viewer chooses what it looks at */
};

/* job (NULL: all) is borrowed. -ERR_NOMEM. */
int page_init(struct page *p, const char *job, nsec_t every);
void page_done(struct page *p);

/* Sets what web_open() needs of the page; the address and port are the caller's. */
void page_conf(struct page *p, struct web_conf *conf);

#endif
