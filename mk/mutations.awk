# SPDX-License-Identifier: Apache-2.0
# awk -f mk/mutations.awk FILE.c: a line for each small change of its code, with tabs between:
# FILE LINE COLUMN KIND LENGTH NEW. NEW takes the place of LENGTH characters; COLUMN counts from 1.
# Only lines of functions and tables are changed (they begin with a tab), no comment, string or
# directive.

function emit(col, kind, len, new) {
	printf "%s\t%d\t%d\t%s\t%d\t%s\n", FILENAME, FNR, col, kind, len, new
}

# The line with blanks where it is a comment, a string or a character.
function mask(s,    i, c, d, out, quote) {
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		d = substr(s, i, 2)
		if (in_comment) {
			if (d == "*/") { in_comment = 0; out = out " "; i++ }
			out = out " "
		} else if (quote != "") {
			if (c == "\\") { out = out " "; i++ }
			else if (c == quote) quote = ""
			out = out (quote == "" ? "\"" : " ")
		} else if (d == "/*") {
			in_comment = 1; i++; out = out "  "
		} else if (d == "//") {
			break
		} else {
			if (c == "\"" || c == "'") quote = c
			out = out c
		}
	}
	return out
}

# Each place of the words in the line.
function each(m, old, kind, new, skip,    at, from) {
	for (from = 1; (at = index(substr(m, from), old)); from += at + length(old) - 1)
		emit(from + at - 1 + skip, kind, length(old) - 2 * skip, new)
}

function operators(m,    i) {
	for (i = 1; i <= noperator; i++)
		each(m, " " old_op[i] " ", kind_op[i], new_op[i], 1)
	each(m, "++", "arithmetic", "--", 0)
	each(m, "--", "arithmetic", "++", 0)
}

# The place of the bracket that closes the one at `at`; 0: it is not in this line.
function closing(m, at,    depth, c) {
	for (; at <= length(m); at++) {
		c = substr(m, at, 1)
		depth += (c == "(") - (c == ")")
		if (c == ")" && depth == 0)
			return at
	}
	return 0
}

function conditions(m,    at, end, from) {
	for (from = 1; match(substr(m, from), /(^|[^A-Za-z0-9_])if \(/); from = at + 1) {
		at = from + RSTART + RLENGTH - 2
		end = closing(m, at)
		if (end)
			emit(at, "condition", end - at + 1, "(!" substr($0, at, end - at + 1) ")")
	}
	for (from = 1; match(substr(m, from), /![A-Za-z_(]/); from += RSTART)
		emit(from + RSTART - 1, "condition", 1, "")
}

function calls(m,    at, end, name) {
	if (!match(m, /^\t+[a-z_][a-z0-9_]*\(/))
		return
	at = RLENGTH
	name = substr(m, 1, at - 1)
	gsub(/\t/, "", name)
	end = closing(m, at)
	# Logs and assertions are not behaviour that others see.
	if (end && substr(m, end + 1) == ";" && \
	    name !~ /^(assert|log_[a-z]*|_Static_assert|sizeof|if|for|while|switch|return)$/) {
		match(m, /^\t+/)
		emit(RLENGTH + 1, "call", end - RLENGTH + 1, ";")
	}
}

function returns(m,    at, value) {
	if (!match(m, /(^|[^A-Za-z0-9_])return [^;]*;/))
		return 0
	at = index(m, "return ") + 7
	value = substr($0, at, index(substr(m, at), ";") - 1)
	if (value == "0")
		emit(at, "return", 1, "1")
	else if (value == "true" || value == "false")
		emit(at, "return", length(value), value == "true" ? "false" : "true")
	else
		emit(at, "return", length(value), "0")
	return value ~ /^[0-9]+$/
}

function constants(m,    at, from, n, before, after) {
	for (from = 1; match(substr(m, from), /[0-9]+/); from = at + length(n)) {
		at = from + RSTART - 1
		n = substr(m, at, RLENGTH)
		before = at > 1 ? substr(m, at - 1, 1) : " "
		after = substr(m, at + RLENGTH, 1)
		if (before ~ /[A-Za-z0-9_.]/ || after ~ /[.A-Za-z_]/ || length(n) > 9)
			continue
		if (substr(m, at - 2, 5) == "{ 0 }") # all of it is zero: no number
			continue
		emit(at, "constant", length(n), n + 1)
		if (n > 0)
			emit(at, "constant", length(n), n - 1)
	}
}

function op(old, new, kind) {
	old_op[++noperator] = old
	new_op[noperator] = new
	kind_op[noperator] = kind
}

BEGIN {
	op("==", "!=", "comparison"); op("!=", "==", "comparison")
	op("<", "<=", "comparison"); op("<=", "<", "comparison")
	op(">", ">=", "comparison"); op(">=", ">", "comparison")
	op("+", "-", "arithmetic"); op("-", "+", "arithmetic")
	op("*", "/", "arithmetic"); op("/", "*", "arithmetic"); op("%", "*", "arithmetic")
	op("&", "|", "arithmetic"); op("|", "&", "arithmetic")
	op("<<", ">>", "arithmetic"); op(">>", "<<", "arithmetic")
	op("+=", "-=", "arithmetic"); op("-=", "+=", "arithmetic")
	op("|=", "&=", "arithmetic"); op("&=", "|=", "arithmetic")
	op("&&", "||", "condition"); op("||", "&&", "condition")
}

FNR == 1 { in_comment = goes_on = 0 }
{
	m = mask($0)
	directive = goes_on || m ~ /^[ \t]*#/
	goes_on = directive && m ~ /\\$/
	if (directive || m !~ /^\t/ || m ~ /_Static_assert/)
		next
	operators(m)
	conditions(m)
	calls(m)
	if (!returns(m))
		constants(m)
}
