# SPDX-License-Identifier: Apache-2.0
# lm/hold: processes that the monitor has stopped, and their release when it dies.
MODULES += lm/hold
lm/hold.src := guard.c holds.c journal.c stand.c stopnews.c
lm/hold.uses := common/base common/store common/loop lm/host lm/helper lm/proc
lm/hold.programs := lm-guard
lm/hold.inner := lm-guard
lm/hold.main.lm-guard := lm_guard_main.c
