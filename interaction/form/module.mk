# SPDX-License-Identifier: Apache-2.0
# interaction/form: interaction networks as JSON, and as events of logs.
MODULES               += interaction/form
interaction/form.src  := netjson.c netjson_event.c netjson_token.c netput.c netlog.c \
		       netthread.c
interaction/form.uses := common/base common/container common/json common/ring eventlog \
		       eventlog/text interaction interaction/weave
