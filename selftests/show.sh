# shellcheck shell=bash disable=SC2016,SC2034,SC2317 # Perl in quotes; used by name
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# show.sh - what the tests of collq share: running it, looking at what it printed,
# and scenes to look at
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=selftests/barrier_tool.sh
. "$here/barrier_tool.sh"

# tool ARGUMENT...: collq, its streams in files; sets rc.
tool() {
	rc=0
	collq "$@" >"$work/out" 2>"$work/err" </dev/null || rc=$?
}

# seen EXPRESSION: of what "show --json" has printed, in Perl. @contexts are those
# of the process in $pid, or all; @queues theirs, with their context; @blame all.
seen() {
	pid=${pid-} perl -MJSON::PP -0777 -e '
		my $all = decode_json(<STDIN>);
		my @contexts = sort { $a->{context} <=> $b->{context} }
			grep { !$ENV{pid} || $_->{pid} == $ENV{pid} } @{$all->{contexts}};
		my @queues = map { my $c = $_; map { { %$_, in => $c } } @{$c->{queues}} } @contexts;
		my @blame = @{$all->{blame}};
		sub waiting { grep { $_->{state} eq "waiting" } @queues }
		exit !eval { '"$1"' };' <"$work/out"
}

# shown N PATTERN: within reasonable time the text has so many lines with a match.
# Perl on JSON takes its time in an emulated machine; this doesn't.
shown() {
	local until=$((SECONDS + 60))
	until tool show && [ "$(grep -cE -- "$2" "$work/out")" = "$1" ]; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.1
	done
}

# start COMMAND...: in the background, until it has said that it's ready.
start() {
	local until=$((SECONDS + 60))
	rm -f "$work/hold"
	mkfifo "$work/hold"
	: >"$work/ready"
	"$@" <"$work/hold" >"$work/ready" 2>&1 &
	pid=$!
	exec {hold}>"$work/hold"
	until grep -q '^ready' "$work/ready"; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.05
	done
}

finish() {
	exec {hold}>&-
	wait "$pid"
	pid=
	shown 1 '^No contexts$'
}
