/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_UVERBS_H
#define COLLQ_UVERBS_H

struct ib_device;

#ifdef COLLQ_HAVE_UVERBS_EXTENSION
int collq_uverbs_add(struct ib_device *ibdev);
void collq_uverbs_remove(struct ib_device *ibdev);
#else
static inline int collq_uverbs_add(struct ib_device *ibdev)
{
	return -EOPNOTSUPP;
}

static inline void collq_uverbs_remove(struct ib_device *ibdev)
{
}
#endif

#endif /* COLLQ_UVERBS_H */
