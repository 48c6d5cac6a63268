/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_REGISTRAR_H
#define COLLQ_REGISTRAR_H

#include <linux/completion.h>

#include <rdma/ib_verbs.h>

#include "charge.h"

struct collq_cq;
struct collq_verbs;

/**
 * struct collq_registrar - a queue pair that registers memory
 * @verbs: what it was made from; the caller keeps it
 * @charge: what the queue pair is charged
 * @cq: its completion queue
 * @qp: the queue pair, connected to itself
 * @cqe: completion of what is under way, which is one registration at most
 * @done: it has come
 * @status: and said this
 */
struct collq_registrar {
	struct collq_verbs *verbs;
	struct collq_charge charge;
	struct collq_cq *cq;
	struct ib_qp *qp;
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

int collq_registrar_open(struct collq_registrar *reg, struct collq_verbs *verbs);
int collq_registrar_register(struct collq_registrar *reg, struct ib_mr *mr,
			     int access);
void collq_registrar_close(struct collq_registrar *reg);

#endif /* COLLQ_REGISTRAR_H */
