// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How the fuzzer calls: what a well-meaning caller would give is copied to memory
 * that others take away, and mostly left as it is; but now and then bits are turned
 * over, sizes and pointers are changed, and structures end where memory does.
 *
 * An area is mapped twice. The kernel is given the one that is taken away; the
 * other one stays, for the fuzzer itself. Taken away means mapped over in one step,
 * so that nobody else's mapping ever comes to lie there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define PAGE	4096UL

/* Of each hundred calls (or arrays) so many are tampered with. */
#define TAMPERED	15

/* Whatever is wrong or late about a call; anything else is wrong about the kernel. */
static bool fuzz_makes_sense(int err)
{
	static const int errors[] = {
		EPERM, ENOENT, EINTR, E2BIG, EBADF, ENOMEM, EACCES, EFAULT, EBUSY, ENODEV, EINVAL,
		ENOTTY, ENOSPC, EOVERFLOW, EOPNOTSUPP, EADDRNOTAVAIL, ENETDOWN, ECONNRESET,
		ENOTCONN, ETIMEDOUT, EHOSTUNREACH, ESTALE, EREMOTEIO, ECANCELED, ETIME,
		EMSGSIZE,
	};
	unsigned int i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (err == -errors[i])
			return true;
	}
	return err >= 0;
}

static __u64 fuzz_interesting(struct fuzz_thread *t)
{
	static const __u64 numbers[] = {
		0, 1, 2, 7, 8, 31, 32, 63, 64, 127, 128, 255, 256, 1023, 1024, 4095, 4096, 4097,
		16383, 16384, 32767, 32768, 65535, 65536, 0xfffff, 0x100000, 0x7fffffff,
		0x80000000, 0xfffffffe, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
		0x8000000000000000, 0xfffffffffffff000, 0xffffffffffffffff,
	};

	return numbers[fuzz_below(t, sizeof(numbers) / sizeof(numbers[0]))];
}

/* One change, of the whole or of a member. */
static void fuzz_tamper(struct fuzz_thread *t, char *data, size_t size)
{
	size_t at = fuzz_below(t, size);
	__u64 number = fuzz_interesting(t);
	__u32 word;

	switch (fuzz_below(t, 5)) {
	case 0:
		data[at] ^= 1 << fuzz_below(t, 8);
		break;
	case 1:
		data[at] = fuzz_below(t, 256);
		break;
	case 2:
		at &= ~3UL;
		if (at + sizeof(word) <= size) {
			memcpy(&word, data + at, sizeof(word));
			word += 1 - 2 * fuzz_below(t, 2);
			memcpy(data + at, &word, sizeof(word));
		}
		break;
	case 3:
		at &= ~3UL;
		if (at + 4 <= size)
			memcpy(data + at, &number, 4);
		break;
	default:
		at &= ~7UL;
		if (at + 8 <= size)
			memcpy(data + at, &number, 8);
	}
}

/* Where the next structure goes: anywhere, or just before the end of the area. */
static size_t fuzz_room(struct fuzz_thread *t, size_t size)
{
	size_t offset = t->placed;

	if (fuzz_one_in(t, 4))
		offset = (offset + size + PAGE - 1) / PAGE * PAGE - size;
	if (offset + size > FUZZ_AREA)
		offset = FUZZ_AREA - size;
	t->placed = (offset + size + 63) & ~63UL;
	return offset;
}

/**
 * fuzz_place() - give the kernel something to read
 * @t: the thread
 * @data: what
 * @size: how much; cut off if it's more than an area
 *
 * Return: where it is, or nearly.
 */
__u64 fuzz_place(struct fuzz_thread *t, const void *data, size_t size)
{
	size_t offset;
	int changes;

	if (size > FUZZ_AREA)
		size = FUZZ_AREA;
	if (!size)
		return 0;
	offset = fuzz_room(t, size);
	memcpy(t->alias + offset, data, size);
	if (t->honest || fuzz_below(t, 100) >= TAMPERED)
		return (__u64)(t->honest ? t->alias : t->area) + offset;

	if (fuzz_one_in(t, 10))
		return fuzz_interesting(t);
	if (fuzz_one_in(t, 10))
		return (__u64)t->area + fuzz_below(t, FUZZ_AREA + 64);
	for (changes = 1 + fuzz_below(t, 3); changes; changes--)
		fuzz_tamper(t, t->alias + offset, size);
	return (__u64)t->area + offset;
}

/* What the kernel has written there; nothing if it isn't in the area. */
void fuzz_fetch(struct fuzz_thread *t, __u64 place, void *data, size_t size)
{
	__u64 offset = place - (__u64)t->area;

	if (place >= (__u64)t->alias && place < (__u64)t->alias + FUZZ_AREA)
		offset = place - (__u64)t->alias;
	if (offset < FUZZ_AREA && size <= FUZZ_AREA - offset)
		memcpy(data, t->alias + offset, size);
}

/* A timeout of minutes would keep endpoints lingering, a large one costs memory. */
static void fuzz_be_bounded(struct fuzz_thread *t, unsigned long cmd, __u64 place, __u32 nr)
{
	struct ib_collq_endpoint_create *entry;
	__u64 offset = place - (__u64)t->area;

	if (cmd != IB_COLLQ_ENDPOINT_CREATE || offset >= FUZZ_AREA)
		return;
	for (; nr && offset + sizeof(*entry) <= FUZZ_AREA; nr--, offset += sizeof(*entry)) {
		entry = (void *)(t->alias + offset);
		if (entry->timeout > 14 && entry->timeout < 32)
			entry->timeout = 14;
		if (entry->send_capacity > 256 && entry->send_capacity <= 4096)
			entry->send_capacity = 256;
		if (entry->recv_capacity > 256 && entry->recv_capacity <= 4096)
			entry->recv_capacity = 256;
	}
}

static void fuzz_count(struct fuzz_thread *t, unsigned long cmd, int ret)
{
	struct fuzz *fuzz = t->fuzz;

	if (ret >= 0)
		__atomic_fetch_add(&fuzz->good, 1, __ATOMIC_RELAXED);
	if (!fuzz_makes_sense(ret)) {
		fuzz->odd_command = cmd;
		fuzz->odd = ret;
		__atomic_store_n(&fuzz->stop, true, __ATOMIC_RELAXED);
	}
	if (__atomic_add_fetch(&fuzz->calls, 1, __ATOMIC_RELAXED) >= fuzz->ops)
		__atomic_store_n(&fuzz->stop, true, __ATOMIC_RELAXED);
}

/**
 * fuzz_call() - make an ioctl
 * @t: the thread
 * @fd: the descriptor
 * @cmd: the command
 * @arg: its structure, in and out
 * @size: of the structure
 *
 * Return: what it returned, or -errno.
 */
int fuzz_call(struct fuzz_thread *t, int fd, unsigned long cmd, void *arg, size_t size)
{
	char tail[256];
	__u32 claimed;
	__u64 place;
	int ret;

	if (!t->honest && size && fuzz_one_in(t, 40)) {
		/* Longer than the kernel knows, with zeros or not, or shorter. */
		claimed = fuzz_one_in(t, 4) ? fuzz_interesting(t) : size - 32 + fuzz_below(t, 64);
		memset(tail, fuzz_one_in(t, 3) ? 0x40 : 0, sizeof(tail));
		memcpy(tail, arg, size < sizeof(tail) ? size : sizeof(tail));
		memcpy(tail, &claimed, sizeof(claimed));
		place = fuzz_place(t, tail, sizeof(tail));
	} else {
		place = fuzz_place(t, arg, size);
	}
	if (!t->honest && fuzz_one_in(t, 200))
		cmd ^= fuzz_one_in(t, 2) ? fuzz_below(t, 16) : 1UL << fuzz_below(t, 32);
	ret = ioctl(fd, cmd, place);
	if (ret < 0)
		ret = -errno;
	fuzz_fetch(t, place, arg, size);
	fuzz_count(t, cmd, ret);
	return ret;
}

/* The same for a batch: number of entries done, or -errno. */
int fuzz_batch(struct fuzz_thread *t, int fd, unsigned long cmd, void *entries, size_t size,
	       __u32 nr)
{
	__u64 place = fuzz_place(t, entries, size * nr);
	struct ib_collq_batch batch = {
		.size = sizeof(batch),
		.nr = nr,
		.entry_size = size,
		.entries = place,
	};
	int ret;

	fuzz_be_bounded(t, cmd, place, nr);
	ret = fuzz_call(t, fd, cmd, &batch, sizeof(batch));
	fuzz_fetch(t, place, entries, size * nr);
	return ret;
}

/* Takes some of a thread's area away, or changes it, and gives it back. */
void fuzz_vandalise(struct fuzz_thread *t, struct fuzz_thread *victim)
{
	size_t page = fuzz_below(t, FUZZ_AREA / PAGE) * PAGE;
	size_t length = (1 + fuzz_below(t, 4)) * PAGE;
	char *start = victim->area + page;

	if (length > FUZZ_AREA - page)
		length = FUZZ_AREA - page;
	switch (fuzz_below(t, 5)) {
	case 0:
		mprotect(start, length, PROT_NONE);
		break;
	case 1:
		mprotect(start, length, PROT_READ);
		break;
	case 2:
		mmap(start, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	case 3:
		mmap(start, length, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	default:
		madvise(start, length, MADV_DONTNEED);
		victim->alias[fuzz_below(t, FUZZ_AREA)] ^= 1 << fuzz_below(t, 8);
	}
	usleep(fuzz_below(t, 300));
	mmap(start, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, t->fuzz->memory,
	     (victim - t->fuzz->thread) * FUZZ_AREA + page);
}
