/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>

#include "blame.h"

/* To standard output; JSON: 0 or -ENOMEM. */
void output_text(const struct snapshot *snapshot, const struct blame *blames, unsigned int nr,
		 bool details);
int output_json(const struct snapshot *snapshot, const struct blame *blames, unsigned int nr,
		bool details);

#endif /* OUTPUT_H */
