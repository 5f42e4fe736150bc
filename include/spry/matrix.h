/* Sparse matrices as arrays: COO, CSR, CSC. */
#ifndef SPRY_MATRIX_H
#define SPRY_MATRIX_H

#include <spry/vector.h>

SPRY_BEGIN

/** How arrays hold a matrix: entry by entry, by rows, by columns. */
typedef enum spry_format { SPRY_FORMAT_COO, SPRY_FORMAT_CSR, SPRY_FORMAT_CSC } spry_format;

/** What the stored entries represent. All but general: the lower triangle is stored, the upper
 * implied. */
typedef enum spry_symmetry {
    SPRY_SYMMETRY_GENERAL,
    SPRY_SYMMETRY_SYMMETRIC,
    SPRY_SYMMETRY_SKEW,
    SPRY_SYMMETRY_HERMITIAN
} spry_symmetry;

/** "coo", "csr" or "csc". */
SPRY_API const char *spry_format_name(spry_format format);
/** "general", "symmetric" and so on. */
SPRY_API const char *spry_symmetry_name(spry_symmetry symmetry);

/** The arrays of a matrix, as you give or see them. */
typedef struct spry_arrays {
    size_t size;             /**< SPRY_ARRAYS_INIT */
    spry_type type;          /**< of the numbers */
    spry_format format;      /**< which arrays are used */
    spry_symmetry symmetry;  /**< what entries represent */
    int64_t rows, cols, nnz; /**< nnz: stored entries */
    void *offsets;           /**< CSR: rows + 1, CSC: cols + 1, COO: NULL */
    void *row_index;         /**< COO, CSC: row of each entry; CSR: NULL */
    void *col_index;         /**< COO, CSR: column of each entry; CSC: NULL */
    void *values;            /**< nnz numbers of the type */
    int offset_bits;         /**< 32: offsets are int32_t; 64 or 0: int64_t */
    int index_bits;          /**< 64: row_index and col_index are int64_t; 32 or 0: int32_t */
    int base;                /**< what offsets and indices count from: 0 or 1 */
    int spare;               /**< 0: no later member hides in the end of this struct */
} spry_arrays;
#define SPRY_ARRAYS_INIT SPRY_SIZED(spry_arrays)

/**
 * Makes a matrix from arrays and checks them: sizes, offsets that rise, indices in range.
 *
 * Inside, offsets have 64 bits, indices have 32, and all count from 0. Arrays of that kind are used
 * in place unless you ask for a copy. Of others the matrix keeps a converted copy; with
 * SPRY_OWN_BORROW the values are still borrowed. So SciPy's and MKL's CSR (32 bits for both) costs
 * 8 bytes per row, and arrays that count from 1 (Fortran, MATLAB) cost their own size.
 *
 * @param ctx     the context that the matrix belongs to
 * @param arrays  every array the format needs; symmetric kinds hold entries on and below the
 *                diagonal
 * @param own     who owns all of them
 * @param A       out: the matrix
 * @return SPRY_STATUS_BAD_INPUT with the place of the first fault, counted as the arrays count;
 * with SPRY_OWN_TAKE the arrays then stay the caller's
 */
SPRY_API spry_status spry_matrix_new(spry_context *ctx, const spry_arrays *arrays, spry_own own,
                                     spry_matrix **A);
/** The common case: a general CSR matrix that counts from 0; nnz is offsets[rows]. */
SPRY_API spry_status spry_matrix_from_csr(spry_context *ctx, spry_type type, int64_t rows,
                                          int64_t cols, const int64_t *offsets,
                                          const int32_t *columns, const void *values, spry_own own,
                                          spry_matrix **A);
/** The same with offsets of 32 bits, as SciPy, MKL and PETSc have them. The matrix keeps a copy of
 * them with 64 bits, 8 bytes per row, also with SPRY_OWN_BORROW, which then borrows columns and
 * values alone. */
SPRY_API spry_status spry_matrix_from_csr32(spry_context *ctx, spry_type type, int64_t rows,
                                            int64_t cols, const int32_t *offsets,
                                            const int32_t *columns, const void *values,
                                            spry_own own, spry_matrix **A);
/**
 * The same matrix for another context: B uses A's arrays in place and belongs to ctx, as does all
 * that is made from B. So threads with a context each can read one matrix at once. A must stay
 * alive. When A changes, so does B, and objects made from B are out of date; arrays that
 * spry_matrix_arrays() returned of B are A's old ones. Changing B does not change A. (Solvers and
 * objects on devices take a matrix of any context and do this by themselves.)
 */
SPRY_API spry_status spry_matrix_share(spry_context *ctx, const spry_matrix *A, spry_matrix **B);
/**
 * Gives A new values for the entries it has. Operators made from A are then out of date
 * (spry_operator_is_current) until you update them (spry_operator_update); a solver does so at its
 * next solve. A must not be in use meanwhile: while a solver runs with A, as in its monitor, all
 * calls that change A are SPRY_STATUS_BAD_USAGE.
 *
 * @param A       any matrix; of one that is distributed over ranks (spry/ranks.h) it is collective,
 *                and SPRY_STATUS_UNSUPPORTED if its rows were redistributed
 * @param values  numbers of A's type in the order of its entries: that of the arrays it was made
 *                from, or since spry_matrix_sort() and its like, of spry_matrix_arrays(); on ranks
 *                those of this rank's rows, which are copied
 * @param own     SPRY_OWN_BORROW: used in place until A is freed or given others; this may be the
 *                array that A has borrowed, with new numbers in it. SPRY_OWN_COPY: copied into
 *                memory of A's own. SPRY_OWN_TAKE: as for spry_matrix_new()
 * @return SPRY_STATUS_BAD_INPUT where the diagonal is not that of a skew-symmetric or hermitian
 * matrix; A is unchanged then, and you still own the values
 */
SPRY_API spry_status spry_matrix_set_values(spry_matrix *A, const void *values, spry_own own);
/** The same with copies of the numbers of a vector, on the host or on any device. */
SPRY_API spry_status spry_matrix_set_values_from(spry_matrix *A, const spry_vector *values);
/**
 * Sets vectors that A makes nearly zero, which smoothing cannot reduce and multigrid must represent
 * on coarse levels; for elasticity the rigid body modes. Copies are kept with A until it is freed
 * or others are set; count 0 removes them.
 *
 * @param v  `count` vectors as long as A has columns
 */
SPRY_API spry_status spry_matrix_set_near_null(spry_matrix *A, int count,
                                               const spry_vector *const *v);
/** Sets the function called once when the matrix is gone and borrowed arrays are no longer used;
 * NULL removes it. A matrix that is freed while a solver runs with it goes after the solve. */
SPRY_API spry_status spry_matrix_set_release(spry_matrix *A, spry_release_fn release, void *data);
/** Frees a matrix; NULL is allowed, as in all functions that free. While a solver runs with the
 * matrix, as in its monitor, it is freed when the solve has ended. */
SPRY_API void spry_matrix_free(spry_matrix *A);

/**
 * Shows the arrays: int64_t offsets, int32_t indices, counted from 0. They belong to the matrix,
 * must not be changed, and are valid until the matrix is changed or freed.
 */
SPRY_API spry_status spry_matrix_arrays(const spry_matrix *A, spry_arrays *arrays);
/** The type of its numbers. */
SPRY_API spry_type spry_matrix_type(const spry_matrix *A);
/** The format of its arrays. */
SPRY_API spry_format spry_matrix_format(const spry_matrix *A);
/** What its entries represent. */
SPRY_API spry_symmetry spry_matrix_symmetry(const spry_matrix *A);
/** Rows. */
SPRY_API int64_t spry_matrix_rows(const spry_matrix *A);
/** Columns. */
SPRY_API int64_t spry_matrix_cols(const spry_matrix *A);
/** Stored entries. */
SPRY_API int64_t spry_matrix_nnz(const spry_matrix *A);

/** The same matrix in another format; entries keep their order within a row (to CSR) or column (to
 * CSC). */
SPRY_API spry_status spry_matrix_convert(const spry_matrix *A, spry_format format, spry_matrix **B);
/**
 * The same matrix with numbers of another type.
 *
 * @return SPRY_STATUS_BAD_INPUT with the place of the first number that does not fit: complex to
 * real with an imaginary part other than 0, or a finite one that would become infinite
 */
SPRY_API spry_status spry_matrix_cast(const spry_matrix *A, spry_type type, spry_matrix **B);
/** A^T, or A^H when conjugate, in A's format. */
SPRY_API spry_status spry_matrix_transpose(const spry_matrix *A, bool conjugate, spry_matrix **B);
/** A general matrix with the implied triangle written out, sorted when A is; COO comes by rows. */
SPRY_API spry_status spry_matrix_expand(const spry_matrix *A, spry_matrix **B);
/** Sorts the entries (CSR: columns rise within rows; CSC: rows within columns; COO: by row, then
 * column). */
SPRY_API spry_status spry_matrix_sort(spry_matrix *A);
/** Sorts, then adds entries at one place into one, in stored order. */
SPRY_API spry_status spry_matrix_sum_duplicates(spry_matrix *A);
/**
 * B[i, j] = A[row_perm[i], col_perm[j]], sorted, in A's format; a NULL permutation is the identity.
 * A symmetric kind stays one when both permutations are the same, else B is general.
 *
 * @return SPRY_STATUS_BAD_INPUT when one is not a permutation
 */
SPRY_API spry_status spry_matrix_permute(const spry_matrix *A, const int32_t *row_perm,
                                         const int32_t *col_perm, spry_matrix **B);
/** The diagonal, as long as the shorter side; zeros where nothing is stored, duplicates added up.
 */
SPRY_API spry_status spry_matrix_diagonal(const spry_matrix *A, spry_vector **d);

/* One list gives the facts and their names. */
#define SPRY_FACT_LIST(item)                                                                     \
    item(SORTED, "sorted", "columns rise within rows (CSR), rows within columns (CSC), or both") \
    item(UNIQUE, "unique", "no place has two entries")                                           \
    item(PATTERN_SYMMETRIC, "pattern-symmetric", "every entry's mirror image is stored")         \
    item(FINITE, "finite", "no value is NaN or infinite")                                        \
    item(SYMMETRIC, "symmetric", "A is A^T up to rounding")                                      \
    item(HERMITIAN, "hermitian", "A is A^H up to rounding")                                      \
    item(DEFINITE, "definite", "(x, A x) > 0 for all x")                                         \
    item(POSITIVE_DIAGONAL, "positive-diagonal", "every diagonal entry is real and positive")

#define SPRY_FACT_ENUM(name, word, text) SPRY_FACT_##name,
/** What can be known of a matrix. */
typedef enum spry_fact { SPRY_FACT_LIST(SPRY_FACT_ENUM) SPRY_FACT_COUNT } spry_fact;
/** Whether it holds. */
typedef enum spry_truth { SPRY_TRUTH_UNKNOWN, SPRY_TRUTH_NO, SPRY_TRUTH_YES } spry_truth;

/**
 * What is known of a matrix so far; nothing is computed. Readers, generators and checks note facts
 * with the matrix, so that they are established once; new values make all but the first three
 * unknown.
 */
SPRY_API spry_truth spry_matrix_fact(const spry_matrix *A, spry_fact fact);
/**
 * The same, computed by passes over A if it is not known. "Up to rounding" is: entries differ
 * from their mirror images by at most 1,024 units of rounding of the larger of the two and
 * sqrt(|a_ii a_jj|); for operators known by their products alone, (A u, v) and (u, A v) differ by
 * as much relative to their factors' norms. No pass can show that A is definite; the diagonal may
 * show that it is not, else it stays unknown.
 */
SPRY_API spry_status spry_matrix_find_fact(const spry_matrix *A, spry_fact fact, spry_truth *truth);
/**
 * States what you know: "this is positive definite". The library believes it, and choices follow
 * from it: a wrong fact leads to methods that do not converge. The first three facts concern safety
 * and are checked instead: SPRY_STATUS_BAD_INPUT where YES is wrong. SPRY_TRUTH_UNKNOWN removes a
 * fact. Facts belong to the numbers: matrices that share them (spry_matrix_share()) share facts.
 */
SPRY_API spry_status spry_matrix_set_fact(spry_matrix *A, spry_fact fact, spry_truth truth);

enum { SPRY_STATS_BINS = 32 };

/**
 * What a matrix looks like: the full one where a triangle is stored, duplicates added up. Values
 * that are not finite are counted and left out of magnitudes and norms; their rows are not
 * dominant.
 */
typedef struct spry_stats {
    size_t size;                              /**< SPRY_STATS_INIT */
    int64_t rows, cols, nnz;                  /**< nnz: entries of the full matrix */
    int64_t stored;                           /**< entries in the arrays */
    int64_t row_min, row_max;                 /**< shortest and longest row */
    double row_mean, row_deviation;           /**< mean and standard deviation of row lengths */
    int64_t row_histogram[SPRY_STATS_BINS];   /**< rows with 0, 1, 2-3, 4-7, 8-15, ... entries */
    int64_t empty_rows, empty_cols;           /**< without an entry */
    int64_t lower_bandwidth, upper_bandwidth; /**< largest i - j and j - i of an entry; >= 0 */
    int64_t profile;   /**< sum over rows of i - first column, where positive */
    int64_t diagonals; /**< distinct j - i */
    int64_t missing_diagonal, zero_diagonal; /**< places (i, i) not stored; stored zeros there */
    int64_t explicit_zeros, duplicates, nonfinite; /**< duplicates: stored beyond a place's first */
    double pattern_symmetry; /**< share of off-diagonal entries whose mirror image is stored; shares
                                  are 1 without such entries and 0 for rectangles */
    double value_symmetry;   /**< share whose mirror image (0 if not stored) has the same value */
    double hermitian_symmetry;      /**< share whose mirror image is the conjugate */
    bool symmetric, hermitian;      /**< up to rounding, as spry_matrix_find_fact() */
    bool skew;                      /**< exactly skew-symmetric, values included */
    int64_t dominant_rows;          /**< rows with |a_ii| >= sum of the others */
    int64_t strictly_dominant_rows; /**< the same with > */
    int64_t positive_diagonal;      /**< rows with a real, positive diagonal entry */
    int32_t block_size;             /**< 1 to 8: the largest with block_fill at least 0.8 */
    double block_fill; /**< entries over places in the blocks touched, for block_size; 1 if empty */
    double value_min, value_max; /**< smallest nonzero and largest magnitude; 0 if there is none */
    double norm_one, norm_inf, norm_frobenius; /**< 1, infinity, Frobenius */
} spry_stats;
#define SPRY_STATS_INIT SPRY_SIZED(spry_stats)

/** Gathers the statistics; CSR and general is fastest, others are converted. */
SPRY_API spry_status spry_matrix_stats(const spry_matrix *A, spry_stats *stats);

SPRY_END

#endif
