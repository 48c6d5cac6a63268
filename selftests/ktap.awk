# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# ktap.awk - count the results of one test program (TAP or KTAP on input)
#
# Variables: name (of the program), status (its exit status; "none" if it never
# came to its end).  Prints each failed test with the diagnostics before it, and
# last a line "= passed failed skipped".
#
# Only leaves count: a result line that stands after deeper indented ones sums
# these up.  Beside its results a program has to keep its promises: a plan that
# matches, no "Bail out!", and an exit status that agrees.  Each broken promise
# counts as one failed test.

function fail(what) {
	failed++
	printf "not ok: %s: %s\n%s", name, what, said
}

# The harness narrates each test; what is left is about the failure.
function is_narration(line) {
	return line ~ /^# +(RUN|OK|FAIL|PASSED|FAILED|Starting|Totals)/
}

/^[ \t]*# / {
	if (!is_narration($0) && lines++ < 40)
		said = said "    " $0 "\n"
	next
}

/^[ \t]*Bail out!/ { bailed = $0 }

/^1\.\.[0-9]+/ {
	plan = substr($1, 4) + 0
	planned = 1
	if (plan == 0)
		skipped++
}

/^[ \t]*(not )?ok [0-9]+/ {
	match($0, /^[ \t]*/)
	depth = RLENGTH
	deeper = 0
	deeper_failed = 0
	for (d in results)
		if (d + 0 > depth) {
			deeper += results[d]
			deeper_failed += failures[d]
			delete results[d]
			delete failures[d]
		}
	results[depth]++
	if (depth == 0)
		top++
	bad = $0 ~ /^[ \t]*not ok/
	if (bad)
		failures[depth]++
	title = $0
	sub(/^[ \t]*(not )?ok [0-9]+ *(- )?/, "", title)
	if (bad && !deeper_failed)
		fail(title)
	else if (!deeper && $0 ~ /# *SKIP/)
		skipped++
	else if (!deeper)
		passed++
	said = ""
	lines = 0
}

END {
	if (status == "none")
		fail("did not come to its end")
	else if (status == 124)
		fail("ran out of time")
	else if (bailed)
		fail(bailed)
	else if (!planned)
		fail("no plan (exit status " status ")")
	else if (plan != top)
		fail("planned " plan " results, gave " top + 0 " (exit status " status ")")
	else if (status != 0 && !failed && !(status == 4 && plan == 0))
		fail("exit status " status)
	printf "= %d %d %d\n", passed, failed, skipped
}
