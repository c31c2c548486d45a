# SPDX-License-Identifier: Apache-2.0
# awk -v out=structs|table -f messages.awk omig.proto
# structs: the plain structs of all messages and the list of their types. table: how each plain
# struct lies beside the generated one. A comment `type N` numbers a message that is sent by itself.
# A comment `max NAME` names the limit of a string or of bytes.
function snake(s,	r, i, c) {
	r = tolower(substr(s, 1, 1))
	for (i = 2; i <= length(s); i++) {
		c = substr(s, i, 1)
		r = r (c ~ /[A-Z]/ ? "_" tolower(c) : c)
	}
	return r
}
# The number or string that stands for a field of that type.
function plain(type) {
	if (type ~ /^(s?int(32|64))$/) return (type ~ /64/ ? "int64_t " : "int32_t ")
	if (type ~ /^uint(32|64)$/) return type "_t "
	if (type == "bool") return "bool "
	if (type == "string") return "const char *"
	if (type == "bytes") return "struct bytes "
	if (type in is_message) return "const struct msg_" snake(type) " *"
	return "uint32_t " # an enum
}
function struct_member(type, is_list, field, note,	t) {
	t = plain(type)
	if (is_list && t !~ /\*$/) t = "const " t "*"
	printf "\t%s%s;%s\n", t, field, note == "" ? "" : " /* " note " */"
	if (is_list) printf "\tsize_t n%s;\n", field
}
function table_place(type, is_list, field, max) {
	printf "\t{ \"%s\", offsetof(struct msg_%s, %s), ", field, name, field
	if (is_list) printf "offsetof(struct msg_%s, n%s)", name, field
	else printf "0"
	if (type in is_message) printf ", 0, &shape_%s },\n", snake(type)
	else printf ", %s, NULL },\n", max == "" ? "0" : "MAX_" max
}
BEGIN {
	print "/* Made by proto/messages.awk. */"
	if (out == "table")
		print "#include \"proto/internal.h\"\n#include \"proto/omig.pb-c.h\"\n"
	else print "#ifndef PROTO_MESSAGES_H\n#define PROTO_MESSAGES_H\n"
}
/^message / {
	is_message[$2] = 1
	name = snake($2)
	if ($5 == "type") row[++nrow] = toupper(name) ", " name ", " $6
	printf (out == "table" ? "static const struct place place_%s[] =" : "struct msg_%s"), name
	print " {"
	next
}
name != "" && /^\}/ {
	if (out == "table")
		printf "};\nstatic const struct shape shape_%s = { \"%s\", " \
			"&omig__wire__%s__descriptor,\n\tsizeof(struct msg_%s), place_%s };\n",
			name, name, name, name, name
	else print "};\n"
	name = ""
	next
}
name != "" && / = [0-9]+;/ {
	note = max = ""
	if ((i = index($0, "// ")) > 0) {
		note = substr($0, i + 3)
		if (sub(/^max /, "", note)) {
			max = note
			sub(/;.*/, "", max)
			sub(/^[A-Z]+(; )?/, "", note)
		}
	}
	is_list = $1 == "repeated"
	type = $(1 + is_list)
	field = $(2 + is_list)
	if (out == "table") table_place(type, is_list, field, max)
	else struct_member(type, is_list, field, note)
}
END {
	if (out == "table") {
		print "\nconst struct shape *const shapes[MSG_TYPE_END] = {"
		for (i = 1; i <= nrow; i++) {
			split(row[i], r, ", ")
			printf "\t[%s] = &shape_%s,\n", r[3], r[2]
		}
		print "};"
		exit
	}
	printf "#define MSG_TYPES(X)"
	for (i = 1; i <= nrow; i++) printf " \\\n\tX(%s)", row[i]
	print "\n\n#endif"
}
