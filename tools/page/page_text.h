/* SPDX-License-Identifier: Apache-2.0 */
/* The page, generated from its files in this folder. Paths of its parts have a hash of them. */
#ifndef TOOLS_PAGE_PAGE_TEXT_H
#define TOOLS_PAGE_PAGE_TEXT_H

extern const char page_html[];
extern const char page_css_text[], page_css_path[];
extern const char page_js_text[], page_js_path[];

#endif
