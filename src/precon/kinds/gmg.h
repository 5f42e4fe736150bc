/* The options of precon gmg, which grid makes. */
#ifndef SPRY_PRECON_GMG_H
#define SPRY_PRECON_GMG_H

#include "precon/precon.h"

#define GMG_OPTIONS(item)                                                                       \
    PRECON_COMMON(item)                                                                         \
    item(WORD, cycle, "v", 0, 0, "v w f full",                                                  \
         "how levels are gone through; full begins on the coarsest one, and has a V-cycle on "  \
         "each level on the way up")                                                            \
    item(INT, pre, "1", 0, 64, NULL, "sweeps of the smoother before going down")                \
    item(INT, post, "1", 0, 64, NULL, "sweeps after coming up")                                 \
    item(WORD, smoother, "auto", 0, 0, "auto redblack jacobi chebyshev line fitted",            \
         "red-black Gauss-Seidel, where points have neighbours of the other colour alone, or "  \
         "damped Jacobi, or Chebyshev's polynomials of as high a degree as there are sweeps, "  \
         "or lines of points together, every other one first; auto takes the first where it "   \
         "can, lines where couplings ask for it, else jacobi; fitted is jacobi with complex "   \
         "weights that fit each level, which auto takes with a shift")                          \
    item(WORD, line, "auto", 0, 0, "auto x y z",                                                \
         "axis of lines; auto takes those with the strongest couplings somewhere, in turns")    \
    item(REAL, omega, "0", 0, 2, NULL,                                                          \
         "relaxation; 0 takes 0.8 for jacobi, else 1; not of fitted")                           \
    item(BOOL, symmetric, "yes", 0, 0, NULL,                                                    \
         "colours take turns the other way after coming up, as methods for symmetric systems "  \
         "need it; no converges faster by itself")                                              \
    item(WORD, coarsening, "auto", 0, 0, "auto full semi",                                      \
         "axes that are halved from level to level: full takes all of them, semi those with "   \
         "strong couplings alone; auto is semi")                                                \
    item(WORD, interpolation, "linear", 0, 0, "linear cubic",                                   \
         "of first guesses in cycle=full, where cubic leaves the error of the differences "     \
         "after one cycle; corrections are linear always")                                      \
    item(WORD, levels, "auto", 0, 0, "auto terms galerkin",                                     \
         "coarse operators: the same terms on coarser grids, or products with weights that "    \
         "follow the coefficients, for those that jump and for grids that cannot be halved; "   \
         "auto takes what suits the coefficients and the grid")                                 \
    item(INT, coarsest, "200", 1, 1e6, NULL,                                                    \
         "unknowns that are few enough to be solved for by factors")                            \
    item(REAL, shift, "0", -10, 10, NULL,                                                       \
         "for waves, laplace + k2 of complex types: levels have (1 + i shift) k2, whose waves " \
         "die out where exp(i k x) goes on; 0.3 is a good one. Negative for exp(-i k x)")       \
    item(INT, last, "24", 1, 64, NULL,                                                          \
         "with smoother=fitted: sweeps on the last level, where it has more unknowns than "     \
         "coarsest")                                                                            \
    item(INT, rank_rows, "1000", 1, 1e9, NULL,                                                  \
         "on ranks: levels with fewer unknowns per rank are stored completely on every rank")

typedef struct gmg_options {
    GMG_OPTIONS(SPRY_OPTION_FIELD)
} gmg_options;
enum { GMG_V, GMG_W, GMG_F, GMG_FULL };
enum { GMG_AUTO, GMG_REDBLACK, GMG_JACOBI, GMG_CHEBYSHEV, GMG_LINE, GMG_FITTED };
enum { GMG_COARSENING_AUTO, GMG_FULLY, GMG_SEMI };
enum { GMG_LINEAR, GMG_CUBIC };
enum { GMG_LEVELS_AUTO, GMG_TERMS, GMG_GALERKIN };

#endif
