# SPDX-License-Identifier: Apache-2.0
# One flat JSON object a line -> a Markdown table.
function field(name,   at, rest) {
	at = index($0, "\"" name "\":")
	if (!at)
		return ""
	rest = substr($0, at + length(name) + 3)
	sub(/^[ \t]+/, "", rest)
	if (substr(rest, 1, 1) == "\"") {
		rest = substr(rest, 2)
		sub(/".*/, "", rest)
	} else {
		sub(/[,}].*/, "", rest)
	}
	return rest == "null" ? "" : rest
}
BEGIN {
	print "# " (title ? title : "Benchmarks") "\n\nWritten by " \
		(from ? "`" from "`" : "`make bench-report` from the last `make bench`") ".\n"
	print "| name | median | unit | min | max | n | floor | ratio |"
	print "|---|---:|---|---:|---:|---:|---|---:|"
}
/^\{/ {
	printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", \
		field("name"), field("value"), field("unit"),
		field("min"), field("max"), field("n"), field("floor"), field("ratio")
}
