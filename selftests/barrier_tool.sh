# shellcheck shell=bash disable=SC2034,SC2317 # functions and rc are used by name
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# barrier_tool.sh - what tests of the tools share: running collq-barrier, or what
# tool_name says, looking at what it printed, and TAP
set -uo pipefail

work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
n=0 failed=0

# check DESCRIPTION COMMAND...
check() {
	local what=$1
	shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n $what"
	else
		echo "# failed: $*"
		tail -n 20 "$work/out" "$work/err" | sed 's/^/# /'
		echo "not ok $n $what"
		failed=1
	fi
}

# run ARGUMENT...: the tool, its streams in files; sets rc.
run() {
	rc=0
	"${tool_name:-collq-barrier}" "$@" >"$work/out" 2>"$work/err" </dev/null || rc=$?
}

is() {
	[ "$1" = "$2" ]
}

out_has() {
	grep -qE -- "$1" "$work/out"
}

err_has() {
	grep -qE -- "$1" "$work/err"
}

out_is_empty() {
	[ ! -s "$work/out" ]
}

no_rank_is_left() {
	! pgrep -x "${tool_name:-collq-barrier}" >"$work/out"
}

# eventually COMMAND...: within 20 s
eventually() {
	local tries
	for ((tries = 0; tries < 200; tries++)); do
		! "$@" || return 0
		sleep 0.1
	done
	return 1
}

# json EXPRESSION: over the rows in @$rows, in Perl; true if it is.
json() {
	perl -MJSON::PP -0777 -e '
		my $rows = decode_json(<STDIN>);
		exit !eval { '"$1"' };' <"$work/out"
}

# table_is_aligned N [COLUMNS]: the table has so many rows, all as long as the heads.
table_is_aligned() {
	awk -v rows="$1" -v columns="${2:-10}" '
		NR == 2 { width = length($0) }
		NR > 2 && (length($0) != width || NF != columns) { bad = 1 }
		END { exit bad || NR != rows + 2 }' "$work/out"
}

# The tree may lie where only root gets; the VM's files are a copy of the host's.
open_way() {
	local dir
	dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
	while [ "$dir" != / ]; do
		chmod o+rx "$dir"
		dir=$(dirname "$dir")
	done
}

# as_user COMMAND...: as an ordinary user, its streams in files.
as_user() {
	setpriv --reuid 1000 --regid 1000 --clear-groups -- "$@" \
		>"$work/out" 2>"$work/err" </dev/null
}

# can_not_fork: the tool is told so, with another host to be served, too, and ends well.
can_not_fork() {
	rc=0
	as_user prlimit --nproc=1 "${tool_name:-collq-barrier}" --ranks 4 \
		--hosts localhost,local:x || rc=$?
	check "no more processes: exit status 1" is $rc 1
	check "no more processes: said so" \
		err_has "can't start 4 processes: Resource temporarily unavailable"
}

# plan: the end of a test.
plan() {
	echo "1..$n"
	exit $failed
}
