/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command templates without a shell. Blanks separate words, '...' and "..." keep blanks. {site} and
 * {host} are replaced by names. The word {command} is replaced by all words of the command. The
 * word {shell_command} is replaced by one word that a shell splits into them. Nothing else is
 * special, and inserted text is never split again.
 */
#ifndef MAINSM_START_TEMPLATE_H
#define MAINSM_START_TEMPLATE_H

#include "common/base/err.h"

#include <stddef.h>

#define TEMPLATE_WORDS_MAX 64

struct template_words {
	const char *site, *host; /* "" = not known: using it is an error */
	const char *const *command; /* NULL-terminated */
};

/* Returns the template of "local", "ssh" or "srun"; any other text is itself a template. */
const char *template_named(const char *launcher);

/*
 * *argv: NULL-terminated, free with template_free(). ERR_PARSE (open quote, unknown {word}, no
 * word at all, neither form of the command), ERR_INVALID (no host given), ERR_LIMIT, ERR_NOMEM.
 */
int template_expand(const char *text, const struct template_words *w, char ***argv, struct err *e);
void template_free(char **argv);

#endif
