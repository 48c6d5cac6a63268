# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# uverbs.sh - part of tools/ksrc: ib_uverbs with the patches of kernel/uverbs
#
# A patched ib_uverbs is one piece of the cache, named after all that it is made from:
#
#   ib_uverbs.ko     takes the place of the distribution's
#   Module.symvers   what only it exports, for who builds a module that uses it
#   include/         the headers that the patches add or change
#
# Other modules of the distribution must load with it, e.g. drivers: so all that it
# exports has to have the checksum that the distribution's has.
#
# Uses $cache, $tree, $source_piece, fetch, make_source, say and die.
# shellcheck disable=SC2154

uverbs_patches=$tree/kernel/uverbs

# patched_source: print the folder of 6.1's source with the patches: symbolic links to
# what they leave alone.
patched_source() {
	local source sum

	source=$(fetch "$source_piece" make_source)
	sum=$({ cat "$uverbs_patches"/*.patch; sed -n '/^SUBLEVEL/p' "$source/Makefile"
		echo "$source"; } | sha256sum)
	fetch "source-uverbs-${sum:0:12}" make_patched_source "$source"
}

# make_patched_source SOURCE: in the current folder, as ./out; see fetch.
make_patched_source() {
	local source=$1 file

	cp -as "$source/." out/
	sed -n 's,^--- a/,,p' "$uverbs_patches"/*.patch | sort -u | while read -r file; do
		# One patch may change what another one adds.
		[ ! -e "$source/$file" ] || cp --remove-destination "$source/$file" "out/$file"
	done
	uverbs_patch out
}

# uverbs_patch FOLDER: patch the source that is there.  git has to take it for the top
# of something of its own: in the middle of something else it does nothing.
uverbs_patch() {
	local patch

	git init -q "$1"
	for patch in "$uverbs_patches"/*.patch; do
		git -C "$1" apply --whitespace=nowarn "$patch" ||
			{ say "${patch##*/} doesn't fit the source"; return 1; }
	done
	rm -rf "$1/.git"
}

# uverbs VERSION: print the folder of the piece, for the kernel of that release.
uverbs() {
	local version=$1 source sum

	source=$(fetch "$source_piece" make_source)
	sum=$({ cat "$uverbs_patches"/*.patch "${BASH_SOURCE[0]}"; gcc --version
		sed -n '/^SUBLEVEL/p' "$source/Makefile"; } | sha256sum)
	fetch "uverbs-$version-${sum:0:12}" make_uverbs "$version" "$source"
}

# make_uverbs VERSION SOURCE: in the current folder, as ./out; see fetch.
make_uverbs() {
	local version=$1 source=$2 headers=/usr/src/linux-headers-$1 core patch

	say "building ib_uverbs with $(find "$uverbs_patches" -maxdepth 1 -name '*.patch' | wc -l) patches for $version"
	core=tree/drivers/infiniband/core
	mkdir -p "$core" tree/include
	cp "$source"/drivers/infiniband/core/*.[ch] "$source/drivers/infiniband/core/Makefile" "$core/"
	cp -r "$source/include/rdma" tree/include/
	uverbs_patch tree || return 1
	# Of all modules that live there, this one.
	{
		echo 'obj-m := ib_uverbs.o'
		sed -n '/^ib_uverbs-/,$p' "$core/Makefile"
		# shellcheck disable=SC2016 # make's own variables
		echo 'LINUXINCLUDE := -I$(src)/../../../include $(LINUXINCLUDE)'
	} >"$core/Kbuild"
	make -C "$headers" "M=$PWD/$core" -j "$(nproc)" modules >log 2>&1 ||
		{ grep -a -A 5 -m 5 -E '(error|\*\*\*)' log >&2; return 1; }
	uverbs_same_exports "$core/Module.symvers" "$headers/Module.symvers" || return 1
	strip --strip-debug -o out/ib_uverbs.ko "$core/ib_uverbs.ko"
	awk 'BEGIN { FS = OFS = "\t" }
	     NR == FNR { known[$2]; next }
	     !($2 in known) { $3 = "drivers/infiniband/core/ib_uverbs"; print }' \
		"$headers/Module.symvers" "$core/Module.symvers" >out/Module.symvers
	mkdir -p out/include/rdma
	(cd tree/include && find rdma -name '*.h') | while read -r patch; do
		cmp -s "tree/include/$patch" "$source/include/$patch" ||
			cp "tree/include/$patch" "out/include/$patch"
	done
}

# uverbs_same_exports OURS KERNELS: whether all that the kernel's own ib_uverbs exports
# is there, with the same checksum.
uverbs_same_exports() {
	local lost

	lost=$(awk '$3 == "drivers/infiniband/core/ib_uverbs" { print $1, $2 }' "$2" |
		grep -vxF -f <(awk '{ print $1, $2 }' "$1") || true)
	[ -z "$lost" ] || { say "not exported as by the kernel's own: ${lost//$'\n'/, }"; return 1; }
}
