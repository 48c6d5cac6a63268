# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# kernel.sh - part of tools/ksrc: kernels of our own configuration, and modules
# of the tree for them
#
# A kernel is one piece of the cache, named after all that it is made from:
#
#   kernel          what QEMU starts
#   config          its configuration
#   version         what uname -r says in it
#   lib/modules/    indices only: all is built in
#   build/          what modules are built against, and vmlinux with line numbers
#
# The objects are not kept: ccache has them, so that an interrupted build goes on
# where it was, and one after a change of configuration compiles what changed.
#
# Their ib_uverbs is that of kernel/uverbs, so that the checks are its and uverbs.c's,
# too.
#
# Uses $cache, $tree, $pieces (the folder of this file), patched_source, fetch, say and
# die.
# shellcheck disable=SC2154

# flavour_exists NAME: there is a kernel of that name, with a file of its own.
flavour_exists() {
	[[ $1 == @(debug|kcsan|coverage) ]]
}

# configuration FLAVOUR: all that it asks for, on standard output.
configuration() {
	local part parts=(base "$1")

	[ "$1" = kcsan ] || parts+=(faults)
	for part in "${parts[@]}"; do
		cat "$pieces/$part.config"
	done
}

# The compiler counts, too: the module must be built by the one that built the
# kernel; and so does the place, which the object tree knows.
kernel_name() {
	local flavour=$1 source=$2 sum

	sum=$({ configuration "$flavour"; gcc --version
		sed -n '/^SUBLEVEL/p' "$source/Makefile"; echo "$source"; } | sha256sum)
	echo "kernel-$flavour-${sum:0:12}"
}

# kernel FLAVOUR: print the folder of a kernel.  It is marked as used; those of
# a flavour that nobody has used for ten days go when another one is made.
kernel() {
	local flavour=$1 source name dir

	source=$(patched_source)
	name=$(kernel_name "$flavour" "$source")
	[ -d "$cache/$name" ] ||
		find "$cache" -maxdepth 1 -name "kernel-$flavour-*" -mtime +10 -exec rm -rf {} +
	dir=$(fetch "$name" make_kernel "$flavour" "$source")
	touch "$dir"
	echo "$dir"
}

# make_kernel FLAVOUR SOURCE: in the current folder, as ./out; see fetch.
make_kernel() {
	local flavour=$1 source=$2 build=$PWD/out/build version
	local run=(make -C "$source" "O=$build" "CC=ccache gcc"
		   KBUILD_BUILD_USER=collq KBUILD_BUILD_HOST=collq)
	export CCACHE_DIR=$cache/ccache CCACHE_MAXSIZE=2G CCACHE_NOHASHDIR=1

	type -P ccache flex bison bc lz4 >/dev/null || { say "run 'make deps' first"; return 1; }
	say "building the $flavour kernel, in about 8 minutes on two idle processors," \
		"or one where ccache has it"
	mkdir "$build"
	configure "$flavour" "${run[@]}"
	# modules: there are none, but it writes down what the kernel exports.  bzImage,
	# because QEMU can start an ELF file only at an entry (PVH) that runs instrumented
	# code before there is a shadow for KASAN.
	"${run[@]}" -j "$(nproc)" bzImage modules 2>&1 | tee log | progress "$flavour kernel" ||
		{ grep -a -B 2 -A 10 -m 5 -E '(error|Error|\*\*\*)' log >&2; return 1; }
	version=$(<"$build/include/config/kernel.release")
	echo "$version" >out/version
	cp "$build/.config" out/config
	cp "$build/arch/x86/boot/bzImage" out/kernel
	mkdir -p "out/lib/modules/$version"
	cp "$build"/modules.{order,builtin,builtin.modinfo} "out/lib/modules/$version/"
	depmod -b out "$version"
	prune "$build"
}

# configure FLAVOUR MAKE...: a symbol whose dependencies are not met is dropped
# in silence, and with it a whole kind of check: see that each has been taken.
configure() {
	local flavour=$1 lost
	shift
	configuration "$flavour" >wanted
	"$@" -s KCONFIG_ALLCONFIG="$PWD/wanted" allnoconfig >log 2>&1 ||
		{ cat log >&2; return 1; }
	lost=$(grep -E '^(CONFIG_|# CONFIG_.* is not set$)' wanted |
		grep -vxF -f out/build/.config || true)
	[ -z "$lost" ] || { say "not in the configuration: $lost"; return 1; }
}

# progress WHAT: of a kernel's build on standard input, every 15 seconds.
progress() {
	local line compiled=0 next=15

	SECONDS=0
	while IFS= read -r line; do
		[[ $line != *' CC '* ]] || compiled=$((compiled + 1))
		((SECONDS >= next)) || continue
		next=$((SECONDS + 15))
		say "$1: $compiled files compiled in $SECONDS s (of about 1600)"
	done
}

# prune BUILD: leave what the build of a module reads, and vmlinux.
prune() {
	find "$1" -path "$1/scripts" -prune -o -path "$1/tools/objtool/objtool" -prune -o -type f \
		\( -name '*.o' -o -name '*.a' -o -name '*.cmd' -o -name '.tmp_*' -o -name '*.d' \) \
		-exec rm {} +
	rm -rf "$1/arch/x86/boot" "$1/System.map"
}

# module FLAVOUR FOLDER [VERSION]: build a folder of the tree as a module for a kernel, and
# print the path of the module.  For "coverage" it counts what has run; "uverbs" is
# Debian's kernel, and a module that uses what the patched ib_uverbs exports.  The
# tree's own objects are left alone: .build/FLAVOUR has the sources as symbolic links.
module() {
	local flavour=$1 part=$2 kernel build='' version dir=$tree/.build/$1 lock options=()

	case $flavour in
	coverage) options=(GCOV_PROFILE=y); kernel=$(kernel coverage) ;;
	uverbs)
		version=${3:-$(newest_version)}
		kernel=$(uverbs "$version")
		build=/usr/src/linux-headers-$version
		options=("COLLQ_UVERBS=$kernel" "KBUILD_EXTRA_SYMBOLS=$kernel/Module.symvers")
		;;
	*) kernel=$(kernel "$flavour") ;;
	esac
	: "${build:=$kernel/build}"
	mkdir -p "$dir"
	exec {lock}>"$dir/.lock"
	flock "$lock"
	if [ "$(cat "$dir/kernel.path" 2>/dev/null)" != "$kernel" ]; then
		rm -rf "${dir:?}"/*
		echo "$kernel" >"$dir/kernel.path"
	fi
	(cd "$tree" && find uapi kernel "$part" -name '*.[ch]' ! -name '*.mod.c' -o -name Kbuild) |
		sort -u | mirror "$dir"
	if ! make -C "$build" "M=$dir/$part" -j "$(nproc)" "${options[@]}" modules \
		>"$dir/log" 2>&1; then
		cat "$dir/log" >&2
		die "could not build $part for the $flavour kernel"
	fi
	exec {lock}>&-
	echo "$dir/$part"/*.ko
}

# mirror FOLDER: have links there to the files of the tree on standard input, and
# to no others.
mirror() {
	local file

	find "$1" -type l ! -exec test -e {} \; -delete
	while read -r file; do
		[ ! -L "$1/$file" ] || continue
		mkdir -p "$1/${file%/*}"
		ln -s "$tree/$file" "$1/$file"
	done
}
