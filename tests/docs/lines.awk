# SPDX-License-Identifier: Apache-2.0
# Prints the shell lines of a document: NUMBER<TAB>LINE. They are indented by four blanks behind an
# empty line, outside of fences, and begin with a command. A line that ends in \ continues in the
# next. Comments at their ends are left out.

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

/^```/ { fenced = !fenced; block = 0; next }
fenced { next }
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
