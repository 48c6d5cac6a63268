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
	'KASAN' 'KCSAN' 'KFENCE' 'UBSAN' 'kmemleak: .*suspected' 'refcount_t:' 'usercopy:'
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
# continuation lines indented) as dmesg would show it.
klog_text() {
	awk '
	/^[0-9]+,[0-9]+,[0-9]+,/ {
		at = index($0, ";")
		split(substr($0, 1, at), f, ",")
		printf "[%5d.%06d] %s\n", f[3] / 1000000, f[3] % 1000000, substr($0, at + 1)
		next
	}
	!/^ / { print }' "$1"
}

# klog_report FILE: print the bad lines of a log, each with what follows it
# (a trace is 30 to 60 lines); false if there are none.
klog_report() {
	local pattern
	pattern=$(IFS='|'; echo "${klog_bad[*]}")
	grep -a -E -A 60 -m 20 -- "$pattern" "$1"
}
