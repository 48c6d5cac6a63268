# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# boot.sh - part of tools/vm: the initial RAM disk, the choice between KVM and
# emulation, and QEMU's command line.  Uses $here (vm.d), $kernel (the image's
# folder in the cache), $version, $module, $ib_uverbs and $job (the folder of
# this run).
# shellcheck disable=SC2154,SC2034 # it shares tools/vm's variables

# What the initial RAM disk must load, before what needs it.
boot_modules=(virtio_pci virtio_console 9pnet_virtio 9p overlay)

# initrd: print the path of the RAM disk for this kernel; made once and kept
# beside the kernel, under a name that changes with its contents.
initrd() {
	local sum file dir m name
	sum=$(cat "$here/init" "$here/boot.sh" /bin/busybox | sha256sum)
	file=$kernel/initrd-${sum:0:16}
	if [ ! -e "$file" ]; then
		dir=$job/initrd
		mkdir -p "$dir/bin" "$dir/modules" "$dir/dev"
		cp /bin/busybox "$dir/bin/"
		install -m 755 "$here/init" "$dir/init"
		for m in "${boot_modules[@]}"; do
			modprobe -d "$kernel" -S "$version" --show-depends "$m"
		done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
		while read -r m; do
			name=${m##*/}
			cp "$m" "$dir/modules/$name"
			echo "$name" >>"$dir/modules/order"
		done
		(cd "$dir" && find . | cpio -o -H newc --quiet) >"$job/initrd.cpio"
		# Only a complete one may ever have the name.
		if ! cp "$job/initrd.cpio" "$file.$$" || ! mv "$file.$$" "$file"; then
			rm -f "$file.$$"
			return 1
		fi
		rm "$job/initrd.cpio"
		rm -rf "$dir"
		# Those of other states of the tree.
		find "$kernel" -maxdepth 1 -name 'initrd-*' -mtime +10 -delete
	fi
	echo "$file"
}

# module_tree: what the guest sees as /lib/modules/VERSION: the kernel's own
# modules, and ours where an administrator would have installed them, indexed, so
# that the kernel can load either by alias.
module_tree() {
	local from=$kernel/lib/modules/$version base=$job/depmod
	local to=$base/lib/modules/$version updated

	mkdir -p "$to/updates"
	[ ! -d "$from/kernel" ] || ln -s "$from/kernel" "$to/kernel"
	cp "$from"/modules.{order,builtin,builtin.modinfo} "$to/"
	for updated in "$module" "$ib_uverbs"; do
		[ -z "$updated" ] || cp "$updated" "$to/updates/"
	done
	depmod -b "$base" "$version"
	mv "$to" "$job/modules"
}

# Common to the probe and to every run.  No default devices, and no firmware for
# the network boot that is not wanted.
qemu_base() {
	qemu=(qemu-system-x86_64 -machine q35 -nodefaults -no-user-config -display none
	      -no-reboot -kernel "$kernel/kernel" -initrd "$initrd")
}

# kvm_works: does this kernel boot under KVM on this machine?  A device node
# says little (nested virtualisation may offer one and hang), so boot it once,
# with a time limit, and remember the answer for this host kernel and QEMU: a
# "no" for a day, as the host may just have been busy.
kvm_works() {
	local key answer qemu

	[ -w /dev/kvm ] || return 1
	key=$(uname -nrv; qemu-system-x86_64 --version; grep -m 1 'model name' /proc/cpuinfo)
	key=$(sha256sum <<<"$key")
	answer=$kernel/kvm-${key:0:16}
	if [ ! -e "$answer" ] ||
	   { [ "$(<"$answer")" != yes ] && [ -n "$(find "$answer" -mmin +1440)" ]; }; then
		note "trying once whether KVM boots Linux $version (up to 20 s)"
		qemu_base
		timeout -k 2 20 "${qemu[@]}" -accel kvm -cpu host -m 512 -serial stdio \
			-append "console=ttyS0 quiet panic=-1 collq.probe" \
			</dev/null >"$job/probe" 2>&1 || true
		if grep -q collq-probe-ok "$job/probe"; then
			echo yes
		else
			echo no
		fi >"$answer.$$"
		mv "$answer.$$" "$answer"
	fi
	[ "$(<"$answer")" = yes ]
}

# choose_accel: sets accel (QEMU's options) and accel_name.
choose_accel() {
	if [ -n "$icount" ]; then
		accel=(-accel tcg -icount "shift=0,sleep=off,align=off" -cpu max)
		accel_name="software emulation (TCG) in virtual time"
	elif [ "${COLLQ_VM_ACCEL-}" = kvm ] ||
	     { [ "${COLLQ_VM_ACCEL-}" != tcg ] && kvm_works; }; then
		accel=(-accel kvm -cpu host)
		accel_name="KVM"
	else
		accel=(-accel "tcg,thread=multi" -cpu max)
		accel_name="software emulation (TCG)"
	fi
}

# qemu_args HOST: the whole command line, in qemu.
#
# The serial console gets warnings and worse only, because each of its
# characters is an exit; it is there for what a dying kernel still says.  The
# log leaves through a port as it grows, and once more, complete, at the end.  A crash ends QEMU: an oops is
# a panic, a panic a reboot, a reboot an exit.  Streams to the host go to plain
# files, which take everything the guest sends at once: with a pipe, what a slow
# reader has not fetched yet is lost when the VM ends.
qemu_args() {
	local append port at=${job//,/,,}/vm$1 share="security_model=none,readonly=on,multidevs=remap"

	append="console=ttyS0 panic=-1 oops=panic printk.devkmsg=on"
	append+=" log_buf_len=16M mitigations=off tsc=reliable collq.host=$1"
	# On a busy host the kernel finds that its timer doesn't tick, and gives up.
	append+=" no_timer_check"
	# A busy machine may leave the guest without a processor for a while, which is
	# no fault of the guest's; one that really hangs still does after a minute or two,
	# and ends then, rather than keep its caller waiting.
	append+=" watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120"
	append+=" workqueue.watchdog_thresh=120"
	append+=" softlockup_panic=1 sysctl.kernel.hung_task_panic=1"
	# That is how autopsy.sh learns where it is.
	append+=" unknown_nmi_panic"
	if [ "$flavour" = stock ]; then
		append+=" loglevel=5 panic_print=0x40"
	else
		# lockdep takes it for a fault that a warning ("hrtimer: interrupt took...")
		# reaches a serial console from an interrupt, and is off from then on.  So
		# the console is silent until a panic, which shows the log from its start.
		append+=" loglevel=2 panic_print=0x60"
		append+=" kasan_multi_shot kunit.enable=1"
	fi
	qemu_base
	qemu+=("${accel[@]}" -smp "$cpus" -m "$mem"
	       -virtfs "local,path=/,mount_tag=root,$share"
	       -virtfs "local,path=${job//,/,,},mount_tag=job,$share"
	       -serial "file:$at/serial"
	       -device virtio-serial-pci
	       -chardev "stdio,id=in,signal=off"
	       -chardev "pipe,id=status,path=$at/status"
	       -chardev "pipe,id=monitor,path=$at/monitor" -mon "chardev=monitor,mode=readline"
	       -append "$append")
	for port in out err log gcov; do
		qemu+=(-chardev "file,id=$port,path=$at/$port")
	done
	for port in in out err log gcov status; do
		qemu+=(-device "virtserialport,chardev=$port,name=$port")
	done
	[ "$hosts" = 1 ] || cables "$1"
}

# cables HOST: each host but the first has a cable to the first, whose QEMU joins
# them: nothing of it is on the network of the machine, and a host that dies takes
# only its own cable down.
cables() {
	local end nic=nic

	if [ "$1" = 1 ]; then
		nic=hub1
		qemu+=(-netdev "hubport,id=hub1,hubid=1")
		for ((end = 2; end <= hosts; end++)); do
			qemu+=(-netdev "stream,id=nic$end,server=on,$(cable "$end")"
			       -netdev "hubport,id=hub$end,hubid=1,netdev=nic$end")
		done
	else
		qemu+=(-netdev "stream,id=nic,server=off,$(cable "$1")")
	fi
	qemu+=(-device "virtio-net-pci,netdev=$nic,romfile=,mac=52:54:00:c0:11:0$1")
}

cable() {
	echo "addr.type=unix,addr.path=${job//,/,,}/link$1"
}

# cables_ready: does the first host listen at its ends of the cables?  In
# /proc/net/unix, flag 00010000 says so.
cables_ready() {
	[ "$(awk -v path="$job/link" '$4 == "00010000" && index($NF, path) == 1' \
		/proc/net/unix | wc -l)" = $((hosts - 1)) ]
}
