/* SPDX-License-Identifier: Apache-2.0 */
/* Strings: copies, comparisons, checked numbers, names, escapes, encodings. */
#ifndef COMMON_BASE_STR_H
#define COMMON_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The caller owns the copy. Returns NULL for NULL, or without memory. str_ndup() stops at a 0. */
char *str_dup(const char *s);
char *str_ndup(const char *s, size_t n);

/* NULL equals NULL only. */
bool str_eq(const char *a, const char *b);
bool str_has_prefix(const char *s, const char *prefix);
bool str_has_suffix(const char *s, const char *suffix);

/*
 * Copies as many whole UTF-8 characters as fit, and terminates. size > 0. Returns true if the
 * whole string fitted. Signal-safe.
 */
bool str_copy(char *out, size_t size, const char *s);

/*
 * Parses a string that is one number in [min, max], without space or trailing text. Fails with
 * ERR_INVALID.
 */
int str_to_i64(const char *s, int64_t min, int64_t max, int64_t *out);
int str_to_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/* As str_to_i64() for a finite decimal number, with a point in any locale. */
int str_to_double(const char *s, double min, double max, double *out);

#define STR_DOUBLE_BYTES 40

/*
 * Writes the shortest text of 15 to 17 digits (6 to 9 for a float) that reads back as v. It has a
 * point in any locale. Other texts are "nan", "inf", "-inf". Returns out, which has
 * STR_DOUBLE_BYTES.
 */
char *str_from_double(char *out, double v);
char *str_from_float(char *out, float v);

/* Parses 1 to 16 hexadecimal digits, lower or upper case, without prefix. */
int str_to_hex64(const char *s, uint64_t *out);

/*
 * True for well-formed UTF-8: no surrogate, no overlong form, nothing above U+10FFFF. Bytes of 0
 * are permitted.
 */
bool str_is_utf8(const void *p, size_t n);

/*
 * Returns the length (1 to 4) of the well-formed character at p, and its code point. Returns 0 if
 * there is none. n > 0.
 */
size_t str_utf8_at(const uint8_t *p, size_t n, uint32_t *cp);

/* True for 1..NAME_MAX_BYTES bytes of UTF-8 without control characters (C0, DEL, C1). */
bool str_is_name(const char *p, size_t n);

/*
 * Writes n bytes as C escapes, safe for a terminal and for one line of a log: \n \t \\ \" and \xNN
 * for unprintable bytes. Well-formed UTF-8 stays, except control characters. Cuts to size (> 0),
 * and then ends with "..." if there is room. Always terminates. Returns out.
 */
char *str_escape(char *out, size_t size, const void *p, size_t n);

/*
 * Writes text that a daemon has checked or escaped unchanged: a name that fits, or an empty string.
 * Other text is escaped by str_escape(). So escapes are not doubled. Returns out.
 */
char *str_show(char *out, size_t size, const char *text);

/* Removes white space at both ends, in place. Returns the new beginning. */
char *str_trim(char *s);

/* Compares n bytes in a time that does not depend on their values. */
bool str_equal_ct(const void *a, const void *b, size_t n);

/* Overwrites a secret in a way that the compiler cannot remove. */
void str_wipe(void *p, size_t n);

/* Number of digits for n bytes, without the terminating 0. */
#define STR_BASE32_LEN(n) (((n)*8 + 4) / 5)
#define STR_HEX_LEN(n) ((n)*2)

/*
 * Writes lower-case digits of the alphabet 0-9 a-z without i, l, o, u. Decoding reads i and l as 1,
 * o as 0, and upper case as lower, because strings may be typed. out has room for STR_BASE32_LEN
 * and a 0.
 */
void str_base32(char *out, const void *p, size_t n);
void str_hex(char *out, const void *p, size_t n);

/*
 * Reads exactly n bytes from exactly STR_BASE32_LEN(n) characters; spare bits must be zero. Fails
 * with ERR_INVALID.
 */
int str_from_base32(void *out, size_t n, const char *s);
int str_from_hex(void *out, size_t n, const char *s);

/* Returns the part of a path behind the last '/', or the whole path. */
const char *str_base_name(const char *path);

/* Returns the value of a hexadecimal digit, lower or upper case; -1 if it is none. */
int str_hex_digit(int c);

/* Returns the number of characters of well-formed UTF-8. */
size_t str_characters(const char *s);

/* Cuts a line at its tabs, in place. Returns the number of fields, of which at most max are set. */
size_t str_split_tabs(char *line, char **field, size_t max);

#endif
