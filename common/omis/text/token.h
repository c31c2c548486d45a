/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens name objects. Tools do not interpret them, but daemons do:
 *
 *	s_N             site            n_N            node
 *	p_N_xxxxxx      process on node N; x = 30 bits that say which
 *	t_N_xxxxxx      thread on node N
 *	c_N             conditional request          e_N   user event
 *	pa_cl_N pa_c_N  counter, local and global    pa_il_N pa_i_N   integrator
 *	trace_b_N       trace buffer                 d_N   measurement
 *
 * Other valid tokens are of classes that are not used yet (q_ m_), or mean "unknown" (u_).
 */
#ifndef COMMON_OMIS_TEXT_TOKEN_H
#define COMMON_OMIS_TEXT_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKEN_BYTES 40 /* the longest token that is made here, with its 0 */

struct token {
	char s[TOKEN_BYTES];
};

enum token_kind {
	TOKEN_NONE,
	TOKEN_SITE,
	TOKEN_NODE,
	TOKEN_PROCESS,
	TOKEN_THREAD,
	TOKEN_CSR,
	TOKEN_EVENT,
	TOKEN_COUNTER_LOCAL,
	TOKEN_COUNTER_GLOBAL,
	TOKEN_INTEGRATOR_LOCAL,
	TOKEN_INTEGRATOR_GLOBAL,
	TOKEN_TRACE_BUFFER,
	TOKEN_MEASUREMENT,
};

struct token_parts {
	enum token_kind kind;
	/* number of the site, node, csr, ...; for processes and threads that of their node */
	uint64_t number;
	uint32_t id; /* the 30 bits of a process or thread */
};

#define TOKEN_ID_MAX 0x3fffffffu

/*
 * Returns 's' 'n' 'p' 't' 'c' 'd' 'e' 'q' 'm' 'u', or 'a' for pa_ and trace_b_. Returns 0 for other
 * classes and invalid tokens.
 */
char token_class(const char *p, size_t n);

/*
 * Returns the kind of a valid token of class 'a': 'k' a counter, 'i' an integrator, 'b' a trace
 * buffer; otherwise 0.
 */
char token_measure(const char *p, size_t n);

/* True for a prefix of a class, '_', and letters, digits, '_'; at most NAME_MAX_BYTES. */
bool token_is_valid(const char *p, size_t n);

/* Parses a token in exactly the form of token_print(). Fails with ERR_INVALID. */
int token_parse(const char *p, size_t n, struct token_parts *out);

/* Returns out->s. id is used for processes and threads only, and must be <= TOKEN_ID_MAX. */
const char *token_print(struct token *out, const struct token_parts *parts);

/* Print a token with a number, or with a node and an id. */
const char *token_print_number(struct token *out, enum token_kind kind, uint64_t number);
const char *token_print_process(struct token *out, uint32_t node, uint32_t id);
const char *token_print_thread(struct token *out, uint32_t node, uint32_t id);

/* Reads the node number of a node, process or thread token. Returns false for others. */
bool token_node(const char *p, size_t n, uint32_t *node);

/*
 * Compares two classes by the order s > n > p > t of containment. Negative: class a contains class
 * b; 0: they are the same; positive: b contains a. *related is false, and the result 0, if one of
 * them is not in that order.
 */
int token_compare_class(char a, char b, bool *related);

/* Return the class below (s -> n -> p -> t) or above; 0 at the end, and for other classes. */
char token_class_below(char c);

#endif
