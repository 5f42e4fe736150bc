/*
 * Nonlinear systems F(u) = 0 by Newton's method over a solver. docs/grid.md is the manual.
 */
#ifndef SPRY_NEWTON_H
#define SPRY_NEWTON_H

#include <spry/operator.h>
#include <spry/result.h>
#include <spry/vector.h>

SPRY_BEGIN

/** Your F: sets `f` to F(u), where u is. `f` may hold anything before. Any status but
 * SPRY_STATUS_OK ends the call with that status. */
typedef spry_status (*spry_residual_fn)(void *data, const spry_vector *u, spry_vector *f);
/** Your Jacobian: sets *J to F'(u), or something near it, an operator where u is. It stays yours,
 * and in place until the next call, or the end of spry_newton(). */
typedef spry_status (*spry_jacobian_fn)(void *data, const spry_vector *u, const spry_operator **J);

/**
 * Solves F(u) = 0 by Newton's method with inexact linear solves: their tolerance follows the
 * residual (Eisenstat and Walker), so that convergence is quadratic where F'(u) is the derivative,
 * and steps that do not make |F| smaller are shortened.
 *
 * @param residual  F
 * @param jacobian  F'; NULL: products with differences of F, and no preconditioner but yours
 * @param data      handed to both
 * @param u         in: the first guess; out: the best that was reached. On the host or a device
 * @param options   see spry_grid_options("newton"): "tol=1e-10 solver=[method=cg precon=gmg]"; NULL
 * @param result    as for spry_solve(). Residuals are |F(u)| relative to that of the first guess,
 *                  computed from u; tolerance is tol, or atol / |F| of the first guess if that is
 *                  larger; iterations and history are those of Newton's method, detail has the
 *                  linear ones. May be NULL
 * @return SPRY_STATUS_OK whenever the iteration ran: not converging is result->reason
 */
SPRY_API spry_status spry_newton(spry_residual_fn residual, spry_jacobian_fn jacobian, void *data,
                                 spry_vector *u, const char *options, spry_result *result);

SPRY_END

#endif
