/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_UVERBS_H
#define COLLQ_UVERBS_H

struct ib_device;
struct uverbs_extension;

#ifdef COLLQ_HAVE_UVERBS_EXTENSION
struct uverbs_extension *collq_uverbs_add(struct ib_device *ibdev);
void collq_uverbs_remove(struct uverbs_extension *extension);
#else
static inline struct uverbs_extension *
collq_uverbs_add(struct ib_device *ibdev)
{
	return NULL;
}

static inline void collq_uverbs_remove(struct uverbs_extension *extension)
{
}
#endif

#endif /* COLLQ_UVERBS_H */
