/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Chance that can be repeated: everything random in a test comes from a seed
 * that is printed, and that COLLQ_TEST_SEED sets. What the processors make of it
 * still differs from run to run.
 */
#ifndef CHANCE_H
#define CHANCE_H

#include <stdint.h>

/**
 * chance_begin() - choose the seed, and print it
 * @what: what it is for
 *
 * Return: the state that chance_below() works on.
 */
uint64_t chance_begin(const char *what);

/**
 * chance_below() - a random number
 * @state: from chance_begin(), or any number
 * @below: what it is less than, at least 1
 *
 * Return: 0..@below - 1.
 */
uint32_t chance_below(uint64_t *state, uint32_t below);

/**
 * chance_number() - a number that may be set from outside
 * @variable: name of a variable of the environment
 * @otherwise: if it isn't set
 *
 * Return: the number.
 */
uint32_t chance_number(const char *variable, uint32_t otherwise);

#endif /* CHANCE_H */
