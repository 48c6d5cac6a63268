/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Charging the rdma cgroup, as user verbs do: a handle for each context, and an
 * object for each protection domain and queue pair. Completion queues are shared
 * by all contexts and charged to nobody.
 */
#ifndef COLLQ_CHARGE_H
#define COLLQ_CHARGE_H

#include <linux/cgroup_rdma.h>

#include <rdma/ib_verbs.h>

/**
 * struct collq_charge - one resource that is charged
 * @cgroup: whom to; NULL if it isn't
 */
struct collq_charge {
	struct rdma_cgroup *cgroup;
};

#ifdef CONFIG_CGROUP_RDMA
#define COLLQ_CHARGE_HANDLE	RDMACG_RESOURCE_HCA_HANDLE
#define COLLQ_CHARGE_OBJECT	RDMACG_RESOURCE_HCA_OBJECT

/* To the current process' cgroup: 0, -ENOSPC or -ENOMEM. May sleep. */
static inline int collq_charge(struct collq_charge *charge,
			       struct ib_device *ibdev,
			       enum rdmacg_resource_type resource)
{
	int err = rdmacg_try_charge(&charge->cgroup, &ibdev->cg_device,
				    resource);

	if (err)
		charge->cgroup = NULL;
	return err == -EAGAIN ? -ENOSPC : err;
}

/* Nothing if it isn't charged. May sleep. */
static inline void collq_uncharge(struct collq_charge *charge,
				  struct ib_device *ibdev,
				  enum rdmacg_resource_type resource)
{
	if (charge->cgroup)
		rdmacg_uncharge(charge->cgroup, &ibdev->cg_device, resource);
	charge->cgroup = NULL;
}
#else
#define COLLQ_CHARGE_HANDLE	0
#define COLLQ_CHARGE_OBJECT	1

static inline int collq_charge(struct collq_charge *charge,
			       struct ib_device *ibdev, int resource)
{
	return 0;
}

static inline void collq_uncharge(struct collq_charge *charge,
				  struct ib_device *ibdev, int resource)
{
}
#endif

#endif /* COLLQ_CHARGE_H */
