/*
 * Programs that are going to be needed, by what is going to be done: they are compiled beside other
 * work where that is possible (device_build() with no place for a program), and nothing happens
 * elsewhere. Nothing here fails: what was not foreseen is compiled when it is needed.
 */
#ifndef SPRY_DEVICE_FORESEE_H
#define SPRY_DEVICE_FORESEE_H

#include "device/engine/device.h"

/* Making the format that `spec` names of a matrix of which `small` is a part with rows of its kind,
 * and products and steps with it. */
void device_foresee_format(spry_device *d, const spry_matrix *small, int64_t rows, int64_t nnz,
                           const char *spec);
/* The same without such a part: what depends on the pattern may come out otherwise. */
void device_foresee_named(spry_device *d, spry_type type, int64_t rows, int64_t nnz,
                          const char *spec);
/* Smoothed aggregation with nodes of so many rows and vectors: its making and its cycles. */
void device_foresee_amg(spry_device *d, spry_type type, int block, int vectors);
/* The same of classical multigrid. */
void device_foresee_classical(spry_device *d, spry_type type);

#endif
