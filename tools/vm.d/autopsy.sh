# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# autopsy.sh - part of tools/vm: what a VM was doing that has to be stopped
#
# A guest that hangs as a whole says nothing, and by the time that somebody looks
# it's gone.  So before it is stopped its kernel's last words are printed, what
# QEMU's threads are at, and where each processor is; and it is sent an interrupt
# that it panics at, with a trace of each processor that still answers.
# Uses $job, $qemu_pids and klog_text.
# shellcheck disable=SC2154 # it shares tools/vm's variables

# autopsy_threads PID: state and processor time of each of QEMU's threads.
autopsy_threads() {
	local stat

	for stat in "/proc/$1/task"/*/stat; do
		sed -E 's/^[0-9]+ \((.*)\) (.*)/\2 \1/' "$stat" | awk '{
			printf "  %s, %d user and %d system ticks:", $1, $12, $13
			for (i = 51; i <= NF; i++) printf " %s", $i
			print "" }'
	done
}

# autopsy_monitor DIR: where the processors are, by QEMU's monitor, which then
# sends the interrupt.
autopsy_monitor() {
	local line from answers=''

	exec {from}<>"$1/monitor.out"
	printf 'info registers -a\nnmi\n' >"$1/monitor.in"
	while IFS= read -r -t 3 -u "$from" line; do
		[[ $line =~ (CPU#[0-9]|^[RE]IP=) ]] || continue
		answers=1
		echo "  ${line%$'\r'}"
	done
	exec {from}>&-
	[ -n "$answers" ] || echo "  QEMU's monitor doesn't answer"
}

# autopsy HOST: of a VM that is alive.  What it says from now on is no fault of
# its own: its console up to here is kept in serial.alive, and its log in log.alive,
# for a processor may still pass on what the one that panics says.
autopsy() {
	local at=$job/vm$1 pid=${qemu_pids[$1]} before tries

	kill -0 "$pid" 2>/dev/null || return 0
	cp "$at/serial" "$at/serial.alive"
	cp "$at/log" "$at/log.alive"
	before=$(stat -c %s "$at/serial.alive")
	echo "vm: vm$1 as it was stopped; its kernel's last words:"
	klog_text "$at/log" | tail -n 15 | sed 's/^/  /'
	echo "vm: QEMU's threads:"
	autopsy_threads "$pid"
	echo "vm: its processors:"
	autopsy_monitor "$at"
	for ((tries = 0; tries < 20; tries++)); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.25
	done
	tail -c "+$((before + 1))" "$at/serial" | sed -n '1,120s/^/  /p'
}
