# SPDX-License-Identifier: Apache-2.0
# eventlog/text: event logs in other tools' forms: ULM, BP, Lite, XML, JSON, Chrome, OTLP, CTF.
# circle: evline.c evline_xml.c: two notations of one reader
MODULES            += eventlog/text
eventlog/text.src  := evwords.c evout.c evattr.c evout_json.c evline.c evline_xml.c evtypes.c \
		       evctf.c evalone.c
eventlog/text.uses := common/base common/container common/json eventlog
