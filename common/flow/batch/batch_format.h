/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the batch format, shared by writer and reader. */
#ifndef COMMON_FLOW_BATCH_BATCH_FORMAT_H
#define COMMON_FLOW_BATCH_BATCH_FORMAT_H

#include <stdint.h>

#define BATCH_VERSION 1

/*
 * REST: a varint and 8 bytes follow the number of tokens. They are the number of links in the rest,
 * and the sum of their hashes.
 */
enum batch_bit { BATCH_VT = 1, BATCH_PARTIAL = 2, BATCH_REST = 4, BATCH_BITS = 7 };

/* Parts that follow the first byte of a token, in this order. */
enum token_bit {
	TOKEN_KEY = 1, /* zigzag: the key, less the one before; else one more than that */
	TOKEN_INT = 2, /* zigzag: the value, a whole number */
	TOKEN_DOUBLE = 4, /* 8 bytes: the value. Neither: none */
	TOKEN_ERROR = 8, /* 8 bytes; else 0 */
	TOKEN_FLAGS = 16, /* varint; else 0 */
	TOKEN_COVERAGE = 32, /* varints k, n; else as before */
	TOKEN_SPAN = 64, /* zigzag: time - oldest, newest - time; else 0 */
	TOKEN_BITS = 127,
};

/* The bits of an aggregate. */
enum agg_bit {
	AGG_INFINITE = 1, /* varints pinf, ninf; else 0 */
	AGG_ERROR = 2, /* 8 bytes, of pairs twice; else 0 */
	AGG_LOW = 4, /* each sum has its low part, 8 bytes; else that is 0 */
	AGG_BITS = 7,
};

#define BATCH_INT_MAX (INT64_C(1) << 53) /* whole numbers that a double holds exactly */
/* Until 2043; differences of times, and sums of two of these, do not overflow. */
#define BATCH_TIME_MAX ((INT64_C(1) << 61) - 1)

#endif
