/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_REGISTRAR_H
#define COLLQ_REGISTRAR_H

#include <linux/completion.h>

#include <rdma/ib_verbs.h>

#include "charge.h"

struct collq_cq;
struct collq_verbs;
struct scatterlist;

/*
 * A page more than is registered: rxe before 6.3 looks at the entry behind the last
 * one, though it does nothing with it.
 */
#define COLLQ_SPARE_PAGES	1U

/**
 * struct collq_registration - memory that is registered
 * @mr: the memory region; NULL if there is none
 * @charge: what it's charged
 */
struct collq_registration {
	struct ib_mr *mr;
	struct collq_charge charge;
};

/**
 * struct collq_registrar - a queue pair that registers memory
 * @verbs: what it was made from; the caller keeps it
 * @pd: where it registers
 * @charge: what the queue pair is charged
 * @cq: its completion queue
 * @qp: the queue pair, connected to itself
 * @cqe: completion of what is under way, which is one registration at most
 * @done: it has come
 * @status: and said this
 */
struct collq_registrar {
	struct collq_verbs *verbs;
	struct ib_pd *pd;
	struct collq_charge charge;
	struct collq_cq *cq;
	struct ib_qp *qp;
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

int collq_registrar_open(struct collq_registrar *reg, struct collq_verbs *verbs,
			 struct ib_pd *pd);
int collq_registrar_register(struct collq_registrar *reg,
			     struct collq_registration *registration,
			     struct scatterlist *pages, u32 nr, u32 length,
			     enum ib_mr_type type, int access);
u32 collq_registrar_max_pages(const struct ib_device *ibdev);
bool collq_registrar_takes_gaps(const struct ib_device *ibdev);
void collq_registrar_close(struct collq_registrar *reg);
void collq_registration_drop(struct collq_registration *registration);

#endif /* COLLQ_REGISTRAR_H */
