# SPDX-License-Identifier: Apache-2.0
# common/base: errors, log, buffers, strings, containers, clocks. Uses libc only.
MODULES         += common/base
common/base.src := err.c log.c buf.c cur.c str.c num.c hash.c array.c clock.c ticks.c rng.c \
		   file.c dirs.c anywhere.c
# The one sink of the log, and the state of each rate-limited call of it; what keys of hash tables
# are made of.
common/base.statics := log.c:sink *:log_site_here rng.c:key_seed rng.c:key_seed_once \
		rng.c:keys_drawn
