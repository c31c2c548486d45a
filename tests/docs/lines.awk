# SPDX-License-Identifier: Apache-2.0
# Prints the shell lines of a document: NUMBER<TAB>LINE. They are indented by four blanks behind an
# empty line, outside of fences, and begin with a command. A line that ends in \ continues in the
# next. Comments at their ends are left out. A table with a column Command has a line in each row,
# between backquotes.

BEGIN {
	commands = "^(omig|mainsm|sm|lm|make|cc|mpicc|mpirun|srun|python3|eval|export|install|" \
		"systemctl|curl|patch)$"
}

function is_shell(s,    word) {
	while (match(s, /^[A-Z_]+=([^ $]|\$\([^)]*\))* +/))
		s = substr(s, RLENGTH + 1)
	word = s
	sub(/[ ;].*/, "", word)
	if (word ~ /^\.\/(quickstart|configure)$/ || word ~ /^(tests|build)\//)
		return 1
	# "mainsm     one per user" is a row of a list.
	return word ~ commands && s !~ /^(lm|sm|mainsm)  +[^ #-]/
}

function without_comment(s) {
	sub(/[ \t]+#( .*)?$/, "", s)
	return s
}

# A row of a table: the line of its column Command, or nothing.
function print_cell(row,    cell, n) {
	n = split(row, cell, / *\| */)
	if (!in_table)
		for (column = n; column > 1 && cell[column] != "Command"; column--)
			;
	in_table = 1
	if (column > 1 && match(cell[column], /^`.*`$/) && is_shell(substr(cell[column], 2)))
		print FNR "\t" substr(cell[column], 2, length(cell[column]) - 2)
}

/^```/ { fenced = !fenced; block = 0; next }
fenced { next }
/^\|/ { print_cell($0); next }
{ in_table = 0 }
/^ *$/ { block = 1; next }
!/^    / { block = 0; joined = ""; next }
/^     / && joined == "" { next }
block {
	line = joined substr($0, joined == "" ? 5 : 1)
	if (joined == "") {
		at = FNR
		if (!is_shell(line))
			next
	}
	if (line ~ /\\$/) {
		joined = substr(line, 1, length(line) - 1)
		next
	}
	joined = ""
	print at "\t" without_comment(line)
}
