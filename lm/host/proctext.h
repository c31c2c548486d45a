/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the texts of /proc and /sys: lines of words and numbers. Never fails hard: what is not
 * there stays as it was. */
#ifndef LM_HOST_PROCTEXT_H
#define LM_HOST_PROCTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Behind the blanks and the decimal number at p, or NULL when there is none. Saturates. */
const char *text_number(const char *p, int64_t *out);

/* Up to max numbers of the line at p, as many as there are. */
size_t text_numbers(const char *p, int64_t *out, size_t max);

/* As text_number, with a point and digits; no exponent. */
const char *text_decimal(const char *p, double *out);

/* Behind the word at p (blanks before it are skipped), *n its length; NULL at the end of the
 * line. */
const char *text_word(const char *p, const char **word, size_t *n);

/* The start of the next line, or NULL. */
const char *text_next_line(const char *p);

/* Behind `key` on the first line that starts with it, or NULL. */
const char *text_find(const char *text, const char *key);

/* The number behind `key` on its line; false when there is none. */
bool text_field(const char *text, const char *key, int64_t *out);

/* As text_field(), for hexadecimal digits without a prefix. Saturates. */
bool text_hex_field(const char *text, const char *key, uint64_t *out);

/* Copies the rest of the line at p without blanks around it, cut to what fits. */
void text_line(char *out, size_t size, const char *p);

#define TEXT_LINK_BYTES 16

/* Behind "  name:" at p, the name into out; NULL when the line names no network link. */
const char *text_link(const char *p, char out[TEXT_LINK_BYTES]);

#endif
