/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef COLLQ_ENGINE_H
#define COLLQ_ENGINE_H

struct collq_queue;

void collq_engine_enter(void);
void collq_engine_exit(void);
void collq_engine_enter_bh(void);
void collq_engine_exit_bh(void);
unsigned int *collq_engine_budget(void);
void collq_engine_wake(struct collq_queue *queue);
void collq_engine_run_locked(struct collq_queue *queue);
void collq_engine_init(void);

#endif /* COLLQ_ENGINE_H */
