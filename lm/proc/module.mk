# SPDX-License-Identifier: Apache-2.0
# lm/proc: the watched processes: their threads, what is switched on in each, and their last
# state.
# circle: proc.c proc_poll.c: one module over two files
MODULES += lm/proc
lm/proc.src := current.c hooks.c proc.c proc_poll.c resolve.c tickbase.c totals.c totals_site.c
lm/proc.uses := common/base common/container common/ring common/omis/text common/omis \
		common/loop proto lm/host
