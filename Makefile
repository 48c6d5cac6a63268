# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The top of the build: which parts there are, and in what order.  Each part
# knows how to build itself: the module through Kbuild, user space through the
# Makefiles of its folders.  "make help" lists the targets.
#
# The module is built for Debian's newest 6.1 headers, whatever kernel this
# machine happens to run, because the VM boots that kernel; only "make install"
# looks at the running kernel.

ifneq ($(words $(CURDIR))$(findstring :,$(CURDIR)),1)
$(error The kernel's build can't work in '$(CURDIR)': move the tree to a path without spaces and colons)
endif

# modinfo, depmod and ldconfig are where an ordinary user's PATH does not lead.
export PATH := $(PATH):/usr/sbin:/sbin

KVER := $(shell tools/ksrc version 2>/dev/null)

# install: for a KDIR that was asked for, else for the running kernel, else for
# the kernel that everything else is built for.
ifeq ($(origin KDIR),undefined)
INSTALL_KDIR := $(firstword $(wildcard /lib/modules/$(shell uname -r)/build) \
			    /usr/src/linux-headers-$(KVER))
else
INSTALL_KDIR := $(KDIR)
endif

# uverbs: for the running kernel if it's one that the patches are for, else for that of
# everything else.
UVERBS_KVER ?= $(firstword $(patsubst /usr/src/linux-headers-%,%, \
		 $(wildcard /usr/src/linux-headers-$(filter 6.1.%,$(shell uname -r)))) $(KVER))

KDIR    ?= /usr/src/linux-headers-$(KVER)
prefix  ?= /usr/local
DESTDIR ?=

# Where kselftest.h and kselftest_harness.h are: a kernel tree's
# tools/testing/selftests, or the copy that tools/ksrc keeps.
KSFT_DIR ?= $(shell tools/ksrc source)/tools/testing/selftests

export prefix DESTDIR

.PHONY: all module uverbs install-uverbs uninstall-uverbs lib tools selftests run check check-long fuzz soak bench-virtual bench-alltoall style docs deps install install-module clean help
.DEFAULT_GOAL := all

all: module lib tools

module:
	@test -e $(KDIR)/Makefile || { echo "No kernel headers in $(KDIR): run 'make deps' as root" \
		"or give KDIR=" >&2; exit 1; }
	+$(MAKE) -C $(KDIR) M=$(CURDIR) modules

# ib_uverbs with the patches of kernel/uverbs, and an ib_collq that can be reached
# through it; for the newest headers, like all else.
uverbs:
	@tools/ksrc uverbs $(UVERBS_KVER)
	@tools/ksrc module uverbs kernel/ib_collq $(UVERBS_KVER)

lib:
	+$(MAKE) -C userlib

tools: lib
	+$(MAKE) -C tools

selftests: lib
	+$(MAKE) -C selftests KSFT_DIR=$(KSFT_DIR)

# make runs itself again after deps, since what KDIR is may have changed. What is shown
# goes through the device.
run:
	@tools/deps
	+@$(MAKE) --no-print-directory all
	tools/vm -- 'export COLLQ_TLS=rc; collq-barrier --demo && collq-alltoall --demo && \
		COLLQ_TLS=local,rc collq-barrier --demo --ranks 16'

check:
	@tools/deps
	+@$(MAKE) --no-print-directory all selftests
	@selftests/run

# All programs on each of the kernels that check what they do, and which branches
# of the module they take.
check-long:
	@tools/deps
	+@$(MAKE) --no-print-directory all selftests
	@status=0; \
	COLLQ_TEST_LONG=1 COLLQ_KILL_ROUNDS=200 COLLQ_SHRINK_ROUNDS=200 COLLQ_UNPLUG_ROUNDS=100 \
	COLLQ_LEAK_PAIRS=10000 COLLQ_EVERY_WAY=130 COLLQ_TEST_LIMIT=3000 \
	selftests/run --only '^((hosts|pyverbs|alltoall_scale|alltoall_graph)_test|(kill|shrink|unplug|leak)_(local_|uverbs_)?test)' \
		--logs "$$(mktemp -d /tmp/collq-logs.XXXXXX)" || status=1; \
	for kernel in debug kcsan coverage; do \
		echo "The $$kernel kernel:"; \
		selftests/run --kernel $$kernel --logs "$$(mktemp -d /tmp/collq-logs.XXXXXX)" || \
			status=1; \
	done; exit $$status

# For a while: MINUTES=, OPS=; what happens: SEED=.
MINUTES ?= 10
OPS     ?= 1000000
# The module goes afterwards: nothing may hold it.
fuzz: all selftests
	tools/vm --kernel debug --timeout $$(($(OPS) / 20 + 1800)) -- \
		'selftests/fuzz_ioctl --ops $(OPS) $(if $(SEED),--seed $(SEED)) &&' \
		'COLLQ_FUZZ_OPS=$$(($(OPS) / 10)) selftests/fuzz_uverbs_test &&' \
		modprobe -r ib_collq

soak: all selftests
	tools/vm --uverbs --timeout $$(($(MINUTES) * 60 + 900)) -- \
		selftests/soak --uverbs --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

bench-virtual: all
	tools/bench-virtual

bench-alltoall: all
	tools/bench-alltoall

style:
	@selftests/run --only '^style$$'

docs: tools
	tools/render-api >Documentation/user-api.rst
	tools/render-counts >Documentation/alltoall-counts.rst

deps:
	@tools/deps

install: install-module
	+$(MAKE) -C userlib install
	+$(MAKE) -C tools install
	if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

install-module: KDIR := $(INSTALL_KDIR)
install-module: module
	install -d $(DESTDIR)$(prefix)/include/rdma
	install -m 644 uapi/rdma/*.h $(DESTDIR)$(prefix)/include/rdma/
	set -- $$(modinfo -F vermagic kernel/ib_collq/ib_collq.ko) && release=$$1 && \
	updates=$(DESTDIR)/lib/modules/$$release/updates && name=ib_collq.ko && \
	install -d $$updates && \
	if [ -e $$updates/ib_uverbs.ko ]; then name=ib_collq.ko.plain; \
		echo "ib_collq for later: there's one for uverbs, which 'make install-uverbs' renews"; fi && \
	install -m 644 kernel/ib_collq/ib_collq.ko $$updates/$$name && \
	if [ -z "$(DESTDIR)" ]; then depmod $$release; fi

# Both override what is there already, until they are removed again; the ib_collq of
# "make install" is put aside.
UVERBS_UPDATES = $(DESTDIR)/lib/modules/$(UVERBS_KVER)/updates
install-uverbs:
	ib_uverbs=$$(tools/ksrc uverbs $(UVERBS_KVER))/ib_uverbs.ko && \
	ib_collq=$$(tools/ksrc module uverbs kernel/ib_collq $(UVERBS_KVER)) && \
	install -d $(UVERBS_UPDATES) && cd $(UVERBS_UPDATES) && \
	if [ -e ib_collq.ko ] && ! [ -e ib_uverbs.ko ]; then mv ib_collq.ko ib_collq.ko.plain; fi && \
	install -m 644 "$$ib_uverbs" "$$ib_collq" .
	if [ -z "$(DESTDIR)" ]; then depmod $(UVERBS_KVER); fi

uninstall-uverbs:
	rm -f $(UVERBS_UPDATES)/ib_uverbs.ko $(UVERBS_UPDATES)/ib_collq.ko
	if [ -e $(UVERBS_UPDATES)/ib_collq.ko.plain ]; then \
		mv $(UVERBS_UPDATES)/ib_collq.ko.plain $(UVERBS_UPDATES)/ib_collq.ko; fi
	if [ -z "$(DESTDIR)" ]; then depmod $(UVERBS_KVER); fi

clean:
	-+$(MAKE) -C selftests clean
	-+$(MAKE) -C tools clean
	-+$(MAKE) -C userlib clean
	test ! -e $(KDIR)/Makefile || $(MAKE) -C $(KDIR) M=$(CURDIR) clean
	rm -rf selftests/logs .build

help:
	@echo 'make            module, library and tools'
	@echo 'make run        install what is missing, build, and show barriers and'
	@echo '                all-to-alls in a VM'
	@echo 'make check      install what is missing, build, and run the tests; some of them'
	@echo '                on a debug kernel, too; half an hour'
	@echo 'make check-long more rounds, several hosts, rdma-core'"'"'s tests; and all tests for the VM'
	@echo '                on the debug kernel, on that which finds data races, and with'
	@echo '                coverage of the module counted; takes hours'
	@echo 'make fuzz       fuzz the ioctls on the debug kernel: OPS=1000000 of them, from SEED='
	@echo 'make soak       barriers, kills and unplugs at random for MINUTES=10, from SEED='
	@echo 'make bench-virtual   barriers of 2..64 processes in virtual time, 5 runs'
	@echo 'make bench-alltoall  all-to-alls of 4..64 processes in virtual time, every way'
	@echo 'make style      only the checks of style'
	@echo 'make docs       render the user API from the ABI headers, and count what'
	@echo '                all-to-alls come to'
	@echo 'make deps       install the Debian packages needed (as root)'
	@echo 'make install    module, header, library and tools; DESTDIR=, prefix= (/usr/local);'
	@echo '                for the running kernel if its headers are here, else for KDIR'
	@echo 'make uverbs     ib_uverbs with the patches of kernel/uverbs, and an ib_collq for it;'
	@echo '                install-uverbs, uninstall-uverbs: in the kernel'"'"'s updates/ folder'
	@echo 'make clean'
	@echo 'make module | lib | tools | selftests | install-module   one part'
	@echo
	@echo 'KDIR=           kernel headers or build tree; now $(KDIR)'
	@echo '                (install would use $(INSTALL_KDIR))'
	@echo 'KSFT_DIR=       tools/testing/selftests of a kernel tree, instead of a download'
	@echo
	@echo 'tools/vm -- COMMAND             run a command in the VM; --help tells more'
	@echo 'selftests/run --only PATTERN    some of the tests'
