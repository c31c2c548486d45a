/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the batch format, shared by encoder and decoder. */
#ifndef COMMON_FLOW_BATCH_BATCH_FORMAT_H
#define COMMON_FLOW_BATCH_BATCH_FORMAT_H

#include <stdint.h>

#define BATCH_VERSION 1

/*
 * REST: a varint and 8 bytes follow the number of tokens. They are the number of links in the rest,
 * and the sum of their hashes.
 */
enum batch_bit { BATCH_VT = 1, BATCH_PARTIAL = 2, BATCH_REST = 4, BATCH_BITS = 7 };

/* Parts behind the first byte of a token, in this order. */
enum token_bit {
	/* zigzag: the key minus the previous key; otherwise the key is the previous one + 1 */
	TOKEN_KEY = 1,
	TOKEN_INT = 2, /* zigzag: the value is this whole number */
	/* 8 bytes: the value; without TOKEN_INT and TOKEN_DOUBLE there is no value */
	TOKEN_DOUBLE = 4,
	TOKEN_ERROR = 8, /* 8 bytes; otherwise 0 */
	TOKEN_FLAGS = 16, /* varint; otherwise 0 */
	TOKEN_COVERAGE = 32, /* varints k, n; otherwise those of the previous token */
	TOKEN_SPAN = 64, /* zigzag: time - oldest, newest - time; otherwise 0 */
	TOKEN_BITS = 127,
};

/* Parts of an aggregate. */
enum agg_bit {
	AGG_INFINITE = 1, /* varints pinf, ninf; else 0 */
	AGG_ERROR = 2, /* 8 bytes, of pairs twice; else 0 */
	AGG_LOW = 4, /* each sum has its low part, 8 bytes; else that is 0 */
	AGG_BITS = 7,
};

/* a double represents whole numbers up to this one exactly */
#define BATCH_INT_MAX (INT64_C(1) << 53)
/* A time until 2043: differences of times, and sums of two such differences, do not overflow. */
#define BATCH_TIME_MAX ((INT64_C(1) << 61) - 1)

#endif
