/* All of spry: solves large sparse linear systems at the speed of memory. */
#ifndef SPRY_H
#define SPRY_H

#include <spry/algebra.h>
#include <spry/context.h>
#include <spry/device.h>
#include <spry/doctor.h>
#include <spry/generate.h>
#include <spry/interop.h>
#include <spry/io.h>
#include <spry/kernel.h>
#include <spry/list.h>
#include <spry/matrix.h>
#include <spry/operator.h>
#include <spry/options.h>
#include <spry/plan.h>
#include <spry/powers.h>
#include <spry/precon.h>
#include <spry/ranks.h>
#include <spry/reorder.h>
#include <spry/result.h>
#include <spry/scale.h>
#include <spry/solver.h>
#include <spry/tune.h>
#include <spry/types.h>
#include <spry/vector.h>

#endif
