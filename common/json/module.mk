# SPDX-License-Identifier: Apache-2.0
# common/json: JSON: a writer, and a reader of documents of any length.
MODULES         += common/json
common/json.src  := failure.c json.c jsonread.c
common/json.uses := common/base
