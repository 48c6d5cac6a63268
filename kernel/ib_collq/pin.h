/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_PIN_H
#define COLLQ_PIN_H

#include <linux/types.h>

struct mm_struct;
struct page;
struct user_struct;

/**
 * struct collq_pin - memory of a process that stays where it is
 * @mm: whose memory; the context keeps the structure
 * @user: who is charged as well; referenced
 * @pages: the pages
 * @nr: their number, all of which are charged
 * @nr_pinned: how many of them are pinned
 */
struct collq_pin {
	struct mm_struct *mm;
	struct user_struct *user;
	struct page **pages;
	unsigned long nr;
	unsigned long nr_pinned;
};

int collq_pin(struct collq_pin *pin, struct mm_struct *mm, unsigned long start,
	      unsigned long nr, bool write, const bool *stop);
int collq_pin_verify(const struct collq_pin *pin, unsigned long start);
void collq_unpin(struct collq_pin *pin, bool dirty);

#endif /* COLLQ_PIN_H */
