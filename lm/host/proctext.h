/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the texts of /proc and /sys: lines of words and numbers. A missing part leaves the output
 * unchanged.
 */
#ifndef LM_HOST_PROCTEXT_H
#define LM_HOST_PROCTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads blanks and a decimal number at p. Returns the position behind it, or NULL if there is none.
 * Saturates.
 */
const char *text_number(const char *p, int64_t *out);

/* Reads up to max numbers of the line at p. Returns how many. */
size_t text_numbers(const char *p, int64_t *out, size_t max);

/* As text_number(), with an optional fraction; no exponent. */
const char *text_decimal(const char *p, double *out);

/*
 * Finds the word at p, after blanks. Returns the position behind it; NULL at the end of the line.
 */
const char *text_word(const char *p, const char **word, size_t *n);

/* Returns the start of the next line, or NULL. */
const char *text_next_line(const char *p);

/* Returns the position behind `key` on the first line that starts with it, or NULL. */
const char *text_find(const char *text, const char *key);

/* Reads the number behind `key` on its line. Returns false if there is none. */
bool text_field(const char *text, const char *key, int64_t *out);

/* As text_field(), for hexadecimal digits without a prefix. Saturates. */
bool text_hex_field(const char *text, const char *key, uint64_t *out);

/* Returns the pid of a process in its own namespace, from its status; -1: not known. */
int32_t text_inner_pid(const char *status);

/* Copies the rest of the line at p without surrounding blanks, cut to size. */
void text_line(char *out, size_t size, const char *p);

#define TEXT_LINK_BYTES 16

/*
 * Reads the name of "  name:" at p. Returns the position behind it; NULL if the line names no
 * network link.
 */
const char *text_link(const char *p, char out[TEXT_LINK_BYTES]);

#endif
