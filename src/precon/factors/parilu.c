/*
 * Numbers of incomplete factors by a fixed-point iteration in which all of them are computed at
 * once, on the host or on a device: see kernels/parilu.c. Each sweep makes more of them right, the
 * first rows first, so that enough of them give what a factorization gives.
 */
#include "device/engine/device.h"
#include "precon/factors/factors.h"

enum { ARRAYS = 3 }; /* numbers of L, of U by columns, and inverses of the diagonal */

typedef struct sweeper {
    spry_context *ctx;
    const triangle *l;
    triangle u; /* U^T: its columns */
    int64_t n;
    size_t size;
    int64_t count[ARRAYS];
    void *from[ARRAYS];   /* of A */
    void *now[2][ARRAYS]; /* of the sweep before and of this one */
} sweeper;

static void clear_sweeper(sweeper *s)
{
    for (int k = 0; k < ARRAYS; k++) {
        base_free(s->ctx, s->from[k]);
        base_free(s->ctx, s->now[0][k]);
        base_free(s->ctx, s->now[1][k]);
    }
    triangle_clear(s->ctx, &s->u);
}

/* A's numbers in the pattern of the factors. */
static spry_status open_sweeper(const spry_matrix *A, factors *f, sweeper *s)
{
    spry_context *ctx = A->ctx;
    triangle *l = &f->chain.t[0], *u = &f->chain.t[1];
    spry_vector *diagonal = NULL;
    spry_status status = SPRY_STATUS_OK;
    *s = (sweeper){.ctx = ctx, .l = l, .n = f->sets.n, .size = spry_type_size(l->type)};
    triangle_load(ctx, A, l);
    triangle_load(ctx, A, u);
    SPRY_GO(ctx, triangle_transpose(ctx, u, &s->u));
    s->count[0] = l->offsets[s->n];
    s->count[1] = u->offsets[s->n];
    s->count[2] = s->n;
    SPRY_GO(ctx, spry_matrix_diagonal(A, &diagonal));
    SPRY_GO(ctx, triangle_by_places(ctx, &f->sets, l->type, diagonal->data, &s->from[2]));
    for (int k = 0; k < 2; k++) {
        const triangle *t = k ? &s->u : l;
        SPRY_GO(ctx, base_alloc(ctx, s->count[k], s->size, &s->from[k]));
        memcpy(s->from[k], t->values, (size_t)s->count[k] * s->size);
    }
    for (int k = 0; k < ARRAYS; k++)
        for (int side = 0; side < 2; side++)
            SPRY_GO(ctx, base_alloc(ctx, s->count[k], s->size, &s->now[side][k]));
done:
    spry_vector_free(diagonal);
    return status;
}

static parilu_job job_for(const sweeper *s, int side)
{
    return (parilu_job){.l_offsets = s->l->offsets,
                        .l_columns = s->l->columns,
                        .u_offsets = s->u.offsets,
                        .u_rows = s->u.columns,
                        .l_from = s->from[0],
                        .u_from = s->from[1],
                        .d_from = s->from[2],
                        .l_old = s->now[1 - side][0],
                        .u_old = s->now[1 - side][1],
                        .inverse_old = s->now[1 - side][2],
                        .l_new = s->now[side][0],
                        .u_new = s->now[side][1],
                        .inverse_new = s->now[side][2]};
}

/* Sweeps on the host, from side 0; gives the side they ended on. */
static int sweep_on_host(const sweeper *s, int sweeps)
{
    enum { CHUNK = 512 };
    const precon_kernels *kernels = precon_kernels_for(s->ctx, s->l->type);
    const int64_t chunks = (s->n + CHUNK - 1) / CHUNK;
    const int threads = host_threads(s->ctx, s->count[0] + s->count[1]);
    for (int k = 1; k <= sweeps; k++) {
        const parilu_job job = job_for(s, k % 2);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t c = 0; c < chunks; c++)
            kernels->parilu_rows(&job, c * CHUNK, (c + 1) * CHUNK < s->n ? (c + 1) * CHUNK : s->n);
    }
    return sweeps % 2;
}

/* --- devices -------------------------------------------------------------------------------------
 */

enum { GROUP = 256, PATTERN = 4, MEMORIES = PATTERN + 3 * ARRAYS };

/* Copies everything to the device: the pattern, A's values, the first guess; and allocates the
 * next. */
static spry_status put_all(spry_device *d, const sweeper *s, device_memory **m)
{
    const void *const pattern[PATTERN] = {s->l->offsets, s->l->columns, s->u.offsets, s->u.columns};
    const int64_t bytes[PATTERN] = {(s->n + 1) * 8, s->count[0] * 4, (s->n + 1) * 8,
                                    s->count[1] * 4};
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < PATTERN; k++) {
        SPRY_GO(s->ctx, device_alloc(d, bytes[k], &m[k]));
        SPRY_GO(s->ctx, device_put(m[k], 0, pattern[k], bytes[k]));
    }
    for (int k = 0; k < ARRAYS; k++) {
        const int64_t size = s->count[k] * (int64_t)s->size;
        for (int part = 0; part < 3; part++)
            SPRY_GO(s->ctx, device_alloc(d, size, &m[PATTERN + part * ARRAYS + k]));
        SPRY_GO(s->ctx, device_put(m[PATTERN + k], 0, s->from[k], size));
        SPRY_GO(s->ctx, device_put(m[PATTERN + ARRAYS + k], 0, s->now[0][k], size));
    }
done:
    return status;
}

/* Sweeps on the device; the values come back to side 0. */
static spry_status sweep_on_device(spry_device *d, const sweeper *s, int sweeps)
{
    device_memory *m[MEMORIES] = {NULL};
    device_program *program = NULL;
    char options[64];
    spry_status status = SPRY_STATUS_OK;
    snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=%d", (int)s->l->type, GROUP);
    SPRY_GO(s->ctx, device_build_text(d, "parilu", options, &program));
    SPRY_GO(s->ctx, put_all(d, s, m));
    for (int turn = 0; turn < sweeps; turn++) {
        device_arg args[1 + MEMORIES] = {DEVICE_VALUE(s->n)};
        for (int k = 0; k < PATTERN + ARRAYS; k++)
            args[1 + k] = device_arg_memory(m[k]);
        for (int k = 0; k < ARRAYS; k++) {
            const int old = PATTERN + (turn % 2 ? 2 : 1) * ARRAYS + k;
            const int new = PATTERN + (turn % 2 ? 1 : 2) * ARRAYS + k;
            args[1 + PATTERN + ARRAYS + k] = device_arg_memory(m[old]);
            args[1 + PATTERN + 2 * ARRAYS + k] = device_arg_memory(m[new]);
        }
        SPRY_GO(s->ctx, device_launch(program, "parilu_rows", NULL, (s->n + GROUP - 1) / GROUP,
                                      GROUP, args, 1 + MEMORIES));
    }
    for (int k = 0; k < ARRAYS; k++)
        SPRY_GO(s->ctx, device_get(m[PATTERN + (sweeps % 2 ? 2 : 1) * ARRAYS + k], 0, s->now[0][k],
                                   s->count[k] * (int64_t)s->size));
done:
    for (int k = 0; k < MEMORIES; k++)
        device_free(m[k]);
    return status;
}

/* --- both ----------------------------------------------------------------------------------------
 */

/* Sweeps with A's diagonal shifted; *bad is the place that failed, n: none. */
static spry_status sweep_shifted(spry_device *d, const factors_wanted *wanted, const sweeper *s,
                                 int *side, int64_t *bad)
{
    const precon_kernels *kernels = precon_kernels_for(s->ctx, s->l->type);
    const parilu_job first = job_for(s, 0);
    spry_status status = SPRY_STATUS_OK;
    kernels->parilu_start(&first, s->n);
    *side = 0;
    if (d)
        SPRY_GO(s->ctx, sweep_on_device(d, s, wanted->rounds));
    else
        *side = sweep_on_host(s, wanted->rounds);
    const parilu_job last = job_for(s, *side);
    *bad = kernels->parilu_finish(&last, s->n, wanted->hermitian);
done:
    return status;
}

spry_status factors_sweep(const spry_matrix *A, const factors_wanted *wanted, spry_device *device,
                          factors *f)
{
    spry_context *ctx = A->ctx;
    sweeper s = {.ctx = ctx};
    int side = 0;
    int64_t bad = 0;
    double shift = 0, next = wanted->shift;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, open_sweeper(A, f, &s));
    for (int turn = 0;; turn++) {
        precon_kernels_for(ctx, s.l->type)
            ->shift_rows(s.n, A->a.offsets, A->a.values, f->sets.rows, next - shift,
                         wanted->hermitian, s.from[2]);
        shift = next;
        SPRY_GO(ctx, sweep_shifted(device, wanted, &s, &side, &bad));
        if (bad == s.n)
            break;
        SPRY_GO(ctx,
                factors_next_shift(A, wanted, f->sets.rows ? f->sets.rows[bad] : bad, turn, &next));
    }
    f->shift = shift;
    memcpy(f->chain.t[0].values, s.now[side][0], (size_t)s.count[0] * s.size);
    memcpy(s.u.values, s.now[side][1], (size_t)s.count[1] * s.size);
    memcpy(f->chain.f[1], s.now[side][2], (size_t)s.count[2] * s.size);
    if (wanted->hermitian)
        SPRY_GO(ctx, factors_mirror(ctx, f));
    else
        SPRY_GO(ctx, triangle_turn(ctx, &s.u, &f->chain.t[1]));
done:
    clear_sweeper(&s);
    return status;
}
