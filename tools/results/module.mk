# SPDX-License-Identifier: Apache-2.0
# tools/results: reads results that commands wrote as JSON: the one home of json-c.
MODULES            += tools/results
tools/results.src  := results.c
tools/results.uses := common/base
tools/results.pkgs := json-c
