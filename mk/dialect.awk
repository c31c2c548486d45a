# SPDX-License-Identifier: Apache-2.0
# awk -f mk/dialect.awk FILE.c...: prints deviations from the dialect of docs/conventions.md, as
# `FILE<TAB>FILE:LINE: what`; FILE is a key of mk/ratchet/format.
#   results    `rc` names a result that is 0 or negative, so no test compares it with 0
#   loops      a variable that only loops use is declared in its loops; the indentation that
#              clang-format gives shows what is inside of a loop
#   names      have no words that mk/prose.words refuses, but in tests
#   arrays     ARRAY_LEN counts, but in code that is compiled without the headers of the tree
BEGIN {
	declaration = "^\t(const )?(unsigned |struct )*[a-z_0-9]+ \\**[a-z_0-9]+" \
		"(, \\**[a-z_0-9]+| = [^;]*)*;"
	persons = "[^a-z](tell|tells|told|telling|untold|wish|wishes|nobody|somebody|whoever" \
		"|anew|bygone|uplink)[^a-z]"
}
function found(at, what) { printf "%s\t%s:%d: %s\n", file, file, at, what }
function depth(line) { match(line, /^\t*/); return RLENGTH }

# Names that a declaration such as `size_t i, n = 0;` leaves without a value.
function declared(line, n, i, part) {
	sub(/^\t(const )?(unsigned |struct )*[a-z_0-9]+ /, "", line)
	sub(/;.*/, "", line)
	n = split(line, part, /, */)
	for (i = 1; i <= n; i++)
		if (part[i] ~ /^\**[a-z_0-9]+$/) {
			sub(/^\**/, "", part[i])
			begun[part[i]] = FNR
			open[part[i]] = 0
		}
}
# Uses of NAME in the loops over it are fine; another use keeps its declaration where it is.
function used(line, name, at) {
	if (open[name]) {
		if (line ~ /^[\t ]*$/ || depth(line) > open[name] || line ~ /^\t+ / ||
		    line ~ /^\t+}/ && depth(line) == open[name])
			return
		open[name] = 0
	}
	if (line !~ "(^|[^a-z_A-Z0-9.>])" name "([^a-z_A-Z0-9]|$)") return
	if (line ~ "^\t+for \\(" name " = ") {
		open[name] = depth(line)
		loop[name] = FNR
	} else
		delete begun[name]
}
FNR == 1 {
	file = FILENAME
	sub(/^\.\//, "", file)
	is_in = 0
	is_test = file ~ /^tests\//
	is_foreign = file ~ /^(examples|tests\/(system|libapp|why))\/|^eventlog\/app\/event\.h$/
}
/(^|[^a-z_A-Z0-9.>])rc (<|>|<=|>=|==|!=) 0([^-a-z_A-Z0-9.]|$)/ {
	found(FNR, "`rc` is compared with 0")
}
!is_foreign && /sizeof\(?[a-z_A-Z0-9]+\)? \/ sizeof\(?\(?\*?[a-z_A-Z0-9]+\)?(\[0\])?/ &&
	file != "common/base/array.h" {
	text = $0
	match(text, /sizeof\(?[a-z_A-Z0-9]+\)? \/ sizeof\(?\(?\*?[a-z_A-Z0-9]+/)
	text = substr(text, RSTART, RLENGTH)
	split(text, side, " / ")
	gsub(/sizeof|[^a-z_A-Z0-9]/, "", side[1])
	gsub(/sizeof|[^a-z_A-Z0-9]/, "", side[2])
	if (side[1] == side[2]) found(FNR, "sizes are divided; ARRAY_LEN counts")
}
!is_test && !/^[ \t]*(\/\*|\*|\/\/)/ {
	text = $0
	gsub(/"([^"\\]|\\.)*"|\/\*.*/, "", text)
	if (match(" " tolower(text) " ", persons)) {
		text = substr(" " text, RSTART + 1, RLENGTH - 2)
		found(FNR, "a name has the word `" text "`")
	}
}
/^{/ { is_in = 1; split("", begun); split("", open); split("", loop); next }
/^}/ {
	for (name in begun)
		if (loop[name]) found(begun[name], "`" name "` is for loops only: declare it there")
	is_in = 0
	split("", begun)
}
is_in {
	for (name in begun) used($0, name)
	if ($0 ~ declaration && !/^\t(return|goto|static) /)
		declared($0)
}
