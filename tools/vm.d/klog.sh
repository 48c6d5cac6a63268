# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# klog.sh - part of tools/vm: judge the guest's kernel log
#
# Every line by which the kernel says that something is wrong with the kernel.
# The words are matched as the kernel writes them, in their case, so that a
# driver that prints "debug" or "warning" is left alone.  To see that the check
# works: tools/vm -- 'echo "<4>WARNING: made up" >/dev/kmsg'

klog_bad=(
	'WARNING:' '\bBUG\b' '\bOops\b' 'Kernel panic' 'Call Trace:' 'general protection'
	'[Uu]nable to handle' 'double fault' 'stack-protector' 'Bad page' 'bad page'
	'KASAN:' 'KCSAN:' 'KFENCE:' 'UBSAN:' 'kmemleak: (.*suspected|unreferenced)' 'refcount_t:' 'usercopy:'
	'(list|slab|kmem_cache).*corruption' 'Poison overwritten' 'Redzone overwritten'
	'Objects remaining' 'Freepointer corrupt' 'ODEBUG' 'DEBUG_LOCKS_WARN_ON'
	'INFO: (possible|suspicious|lockdep|trying to register|inconsistent)'
	'possible (recursive|circular|irq lock)' 'suspicious RCU' 'lockdep is turned off'
	'held lock freed' 'still has locks held' 'lock held when' 'bad unlock balance'
	'scheduling while atomic' 'sleeping function called' 'blocked for more than'
	'soft lockup' 'hard LOCKUP' 'self-detected stall' 'detected stalls' 'rcu.* stall'
	'unregister_netdevice: waiting' 'nobody cared' 'RESTRACK' 'page allocation failure'
	'Out of memory' 'oom-kill' '\[end trace'
)

# klog_text FILE: a dump of /dev/kmsg ("level,sequence,microseconds,flags;text",
# continuation lines indented) as dmesg would show it.  The guest sends records as
# they come, and at the end all of them between two marks; where it did not get
# that far, the former is what there is.
klog_text() {
	awk '
	NR == FNR {
		if ($0 == "collq-vm: the log")
			from = FNR
		else if ($0 == "collq-vm: end of the log")
			to = FNR
		next
	}
	from && to ? FNR <= from || FNR >= to : from && FNR >= from { next }
	/^[0-9]+,[0-9]+,[0-9]+,/ {
		at = index($0, ";")
		split(substr($0, 1, at), f, ",")
		text = substr($0, at + 1)
		gsub(/\\x0a/, "\n", text)
		printf "[%5d.%06d] %s\n", f[3] / 1000000, f[3] % 1000000, text
		next
	}
	!/^ / { print }' "$1" "$1"
}

# klog_ours FILE: without the data races that have no function of the tree's
# modules in their traces: SoftRoCE has some, and they are not ours to mend.
klog_ours() {
	awk '
	/BUG: KCSAN: / { held = 1; ours = 0; text = "" }
	!held { print; next }
	/\[(ib_collq|collq_[a-z]+)\]/ { ours = 1 }
	{ text = text $0 "\n" }
	/======/ { if (ours) printf "%s", text; held = 0 }
	END { if (held) printf "%s", text }' "$1"
}

# klog_known: standard input without what is known, and not ours.  fail_nth_*_test's
# failing allocations bring about that vmalloc says so with a trace, and so does the
# tracer that has no memory for a tracepoint's fields while the module is loaded; and
# that SoftRoCE (of 6.1 and later) deletes timers that it has not come to setting up when
# making a queue pair fails.  And SoftRoCE of 6.1 may touch a message from the same host,
# or its queue pair, when another processor is through with it and has freed it: where it
# looks the queue pair up (under RCU, but what is found is freed without a grace period),
# in the functions that pass the message on and deal with it, or in a lock that they take
# or let go of.  lockdep is off afterwards.
klog_known() {
	awk '
	held == "" {
		known = asked = received = freed = 0
		touched = ""
		if (/fail_nth_[a-z_]*: vmalloc error/)
			known = 1
		if (known || /INFO: trying to register non-static key/)
			held = "</TASK>"
		else if (/WARNING: .* event_define_fields\+/) {
			known = 1
			held = "end trace"
		} else if (/ODEBUG: assert_init not available .* timer_list/)
			held = "end trace"
		else if (/BUG: KASAN: use-after-free in /)
			held = "======"
	}
	held == "" && off && /lockdep is turned off/ { next }
	held == "" { print; next }
	{ text = text $0 "\n" }
	/ Comm: fail_nth_[a-z_]* / { asked = 1 }
	/ rxe_qp_do_cleanup/ { known = 1 }
	# The innermost function that the report is about.
	held == "======" && touched == "" && /[]] +[a-z_]/ &&
	/\+0x/ && !/(dump_stack|print_report|kasan|__asan_|lock_acquire|spin_(un)?lock|tasklet_schedule)/ {
		touched = $0
		sub(/^[^]]*[]] +/, "", touched)
		asked = touched ~ /^(__rxe_(get|put)|rxe_(responder|completer|pool_get_index))\+/ ||
			touched ~ /^rxe_((do|run|sched)_task|(resp|comp)_queue_pkt)\+/
	}
	/ rxe_rcv\+/ { received = 1 }
	/ Freed by task / { freed = 1 }
	received && freed && / (ib_destroy_qp_user|rxe_responder|rxe_completer)\+/ { known = 1 }
	index($0, held) {
		if (!known || !asked)
			printf "%s", text
		else if (!/end trace/)
			off = 1
		held = text = ""
	}
	END { printf "%s", text }'
}

# klog_leaks: standard input without the leak that the driver core (of 6.1) has where a
# class can't be registered, that of its name, when fail_nth_*_test makes that happen.  How
# many leaks there are is told only with one that is left.
klog_leaks() {
	awk '
	function end_leak() {
		if (leak != "" && asked && known)
			left_out = 1
		else if (leak != "") {
			printf "%s%s", suspected, leak
			suspected = ""
		}
		leak = ""
		asked = known = 0
	}
	/kmemleak: [0-9]+ new suspected memory leaks/ { suspected = $0 "\n"; next }
	/kmemleak: unreferenced object/ { end_leak(); leak = $0 "\n"; next }
	leak != "" && /kmemleak: / {
		leak = leak $0 "\n"
		if (/ comm "fail_nth_/)
			asked = 1
		if (/ __class_register\+/)
			known = 1
		next
	}
	{ end_leak(); print }
	END {
		end_leak()
		if (!left_out)
			printf "%s", suspected
	}'
}

# klog_report FILE: print the bad lines of a log, each with what follows it
# (a trace is 30 to 60 lines), as far as anybody would read; false if there are
# none.  The log is read to its end: who stops before that breaks the pipe, which
# "pipefail" takes for a log without a fault.
klog_report() {
	local pattern found
	pattern=$(IFS='|'; echo "${klog_bad[*]}")
	found=$(klog_ours "$1" | klog_known | klog_leaks | grep -a -E -A 60 -- "$pattern") || return
	head -n 1200 <<<"$found"
}

# klog_unwatched: of the programs that selftests/run names in a log, on standard input,
# those that began when lockdep was off already.
klog_unwatched() {
	awk '/Disabling lock debugging|turning off the locking correctness/ { off = 1 }
	     off && / collq-test: / { print $NF }'
}

# klog_where FILE MODULE: for each place in ib_collq that the file's traces name, the
# line of its source.  An address in a trace is where a call returns to.
klog_where() {
	local name offset base

	grep -aoE '[[:alnum:]_.]+\+0x[0-9a-f]+/0x[0-9a-f]+ \[ib_collq\]' "$1" | sort -u |
		head -n 40 | while IFS='+/ ' read -r name offset _; do
		base=$(nm "$2" | awk -v name="$name" '$2 ~ /[tT]/ && $3 == name { print $1; exit }')
		[ -n "$base" ] || continue
		printf '%s+%s: ' "$name" "$offset"
		addr2line -e "$2" -j .text "$(printf '0x%x' $((16#$base + offset - 1)))" |
			sed 's,.*/kernel/ib_collq/,kernel/ib_collq/,'
	done
}
