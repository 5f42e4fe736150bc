/*
 * The operator that solves go by. With G the inverse of -(laplace + k0^2 + i eps), which Fourier
 * transforms make a product, and V = k^2 - k0^2 - i eps, the equation (laplace + k^2) u = -S is
 * u = G (V u + S). For w = u + S / V, where u = G V w, it is
 *
 *     (V - V G V) w = S,
 *
 * complex symmetric, and S - (V - V G V) w is the residual of the equation for u = G V w itself.
 * The preconditioner M = i eps / (eps^2 + D^2), D = k^2 - k0^2, makes of it, up to a similarity, (I
 * + C U) / 2, where U = I + 2 i eps G is unitary, and C = (eps + i D) / (eps - i D) has no number
 * beyond 1 where the medium does not amplify. So the series x <- x + M (S - A x) converges for
 * every eps > 0, whatever the contrast, and Krylov methods do in fewer iterations.
 *
 * The series of G. Osnabrugge, S. Leedumrongwatthanakun, I. Vellekoop, J. Comput. Phys. 322 (2016)
 * is the same with M = i / eps, which needs eps >= max |D|; layers make that large, and iterations
 * many.
 */
#include "device/linalg/operator.h"
#include "device/linalg/vector.h"
#include "grid/wave/wave.h"
#include "host/apply.h"
#include "host/host.h"

/* --- V - V G V -----------------------------------------------------------------------------------
 */

typedef struct born {
    fourier *f;
    const fourier_green *g;
    const spry_vector *V;
} born;

static spry_status born_apply(const spry_operator *op, spry_transpose transpose,
                              const spry_vector *x, spry_vector *y)
{
    const born *b = op->state;
    (void)transpose; /* there is no other product */
    const void *const from = fourier_memory(x);
    void *const to = fourier_memory(y);
    return fourier_scatter(b->f, b->g, b->V, true, 1, &from, &to);
}

static spry_status born_apply_many(const spry_operator *op, spry_transpose transpose, int count,
                                   const void *const *x, void *const *y)
{
    const born *b = op->state;
    (void)transpose;
    return fourier_scatter(b->f, b->g, b->V, true, count, x, y);
}

static void born_destroy(spry_operator *op)
{
    base_free(op->ctx, op->state);
    if (op->device)
        op->device->users--;
}

static const operator_class born_class = {.name = "born",
                                          .multiply = operator_apply_arrays,
                                          .multiply_vectors = operator_apply_vectors,
                                          .apply = born_apply,
                                          .apply_many = born_apply_many,
                                          .destroy = born_destroy};

spry_status born_operator(fourier *f, const fourier_green *g, const spry_vector *V,
                          spry_operator **A)
{
    spry_operator *op = NULL;
    born *b = NULL;
    spry_status status = SPRY_STATUS_OK;
    *A = NULL;
    SPRY_GO(f->ctx, base_calloc(f->ctx, 1, sizeof *b, &b));
    *b = (born){f, g, V};
    SPRY_GO(f->ctx, operator_new(f->ctx, &born_class, f->type, f->count, f->count, &op));
    op->state = b;
    b = NULL;
    op->device = f->device;
    if (f->device)
        f->device->users++;
    op->bytes = fourier_scatter_bytes(f);
    op->own_bytes = op->bytes - 2 * f->count * (int64_t)spry_type_size(f->type);
    *A = op;
done:
    base_free(f->ctx, b);
    return status;
}

spry_status born_potential(const fourier *f, const wave_medium *medium, spry_vector **V)
{
    spry_vector *on_host = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(f->ctx, spry_vector_new(f->ctx, f->type, f->count, NULL, SPRY_OWN_COPY, &on_host));
#pragma omp parallel for num_threads(host_threads(f->ctx, f->count)) schedule(static)
    for (int64_t i = 0; i < f->count; i++)
        value_set(f->type, on_host->data, i,
                  (spry_scalar){medium->unit * (medium->k2[i].re - medium->centre),
                                medium->unit * (medium->k2[i].im - medium->epsilon)});
    if (!*V && f->device)
        SPRY_GO(f->ctx, vector_new_at(f->ctx, f->device, f->type, f->count, V));
    if (*V) {
        SPRY_GO(f->ctx, spry_vector_copy(on_host, *V));
    } else {
        *V = on_host;
        on_host = NULL;
    }
done:
    spry_vector_free(on_host);
    return status;
}

/* --- the preconditioner --------------------------------------------------------------------------
 */

typedef struct scaling {
    spry_vector *plain, *conjugate;
} scaling;

static const void *scaling_diagonal(const spry_operator *op, spry_transpose transpose)
{
    const scaling *s = op->state;
    return transpose == SPRY_TRANSPOSE_CONJUGATE ? s->conjugate->data : s->plain->data;
}

static spry_status scaling_apply(const spry_operator *op, spry_transpose transpose,
                                 const spry_vector *x, spry_vector *y)
{
    const scaling *s = op->state;
    return spry_vector_multiply(transpose == SPRY_TRANSPOSE_CONJUGATE ? s->conjugate : s->plain, x,
                                y);
}

static void scaling_destroy(spry_operator *op)
{
    scaling *s = op->state;
    if (s) {
        spry_vector_free(s->plain);
        spry_vector_free(s->conjugate);
    }
    base_free(op->ctx, s);
}

static const operator_class scaling_class = {.name = "born",
                                             .has_transpose = true,
                                             .multiply = operator_apply_arrays,
                                             .multiply_vectors = operator_apply_vectors,
                                             .apply = scaling_apply,
                                             .destroy = scaling_destroy,
                                             .rows.diagonal = scaling_diagonal};

/* i eps / (eps^2 + D^2) */
static spry_scalar scale_of(const wave_medium *medium, int64_t i)
{
    const double unit = medium->unit, e = unit * medium->epsilon;
    const double re = unit * (medium->k2[i].re - medium->centre), im = unit * medium->k2[i].im;
    /* eps^2 + D^2 = (eps + i D) (eps - i D), which do not cancel */
    const spry_scalar a = {e - im, re}, b = {e + im, -re};
    const double size = (a.re * a.re + a.im * a.im) * (b.re * b.re + b.im * b.im);
    const double pr = a.re * b.re - a.im * b.im, pi = a.re * b.im + a.im * b.re;
    return (spry_scalar){e * pi / size, e * pr / size};
}

spry_status born_precon(const fourier *f, const wave_medium *medium, spry_operator **M)
{
    spry_operator *op = NULL;
    scaling *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(f->ctx, operator_new(f->ctx, &scaling_class, f->type, f->count, f->count, &op));
    SPRY_GO(f->ctx, base_calloc(f->ctx, 1, sizeof *s, &s));
    op->state = s;
    SPRY_GO(f->ctx, spry_vector_new(f->ctx, f->type, f->count, NULL, SPRY_OWN_COPY, &s->plain));
    SPRY_GO(f->ctx, spry_vector_new(f->ctx, f->type, f->count, NULL, SPRY_OWN_COPY, &s->conjugate));
#pragma omp parallel for num_threads(host_threads(f->ctx, f->count)) schedule(static)
    for (int64_t i = 0; i < f->count; i++) {
        const spry_scalar value = scale_of(medium, i);
        value_set(f->type, s->plain->data, i, value);
        value_set(f->type, s->conjugate->data, i, (spry_scalar){value.re, -value.im});
    }
    op->own_bytes = f->count * (int64_t)spry_type_size(f->type);
    op->bytes = 3 * op->own_bytes;
    if (f->device) {
        SPRY_GO(f->ctx, device_diagonal_operator(f->device, op, NULL, M));
    } else {
        *M = op;
        op = NULL;
    }
done:
    spry_operator_free(op);
    return status;
}

/* --- between the box and the padded grid ---------------------------------------------------------
 */

spry_status born_place(const fourier *f, const wave_frame *frame, bool back, bool conjugate,
                       const spry_vector *in, spry_vector *out)
{
    if (f->device)
        return wave_device_place(f, frame, back, conjugate, in, out);
    const double sign = back ? 1 : -1;
    if (!back)
        memset(out->data, 0, (size_t)f->count * spry_type_size(f->type));
#pragma omp parallel for num_threads(host_threads(f->ctx, f->count)) schedule(static) collapse(2)
    for (int64_t z = 0; z < frame->box[2]; z++) {
        for (int64_t y = 0; y < frame->box[1]; y++) {
            const int64_t box = (z * frame->box[1] + y) * frame->box[0];
            const int64_t row = (z + frame->first[2]) * frame->padded[1] + y + frame->first[1];
            const int64_t padded = row * frame->padded[0] + frame->first[0];
            for (int64_t x = 0; x < frame->box[0]; x++) {
                const spry_scalar v = value_get(f->type, in->data, (back ? padded : box) + x);
                value_set(f->type, out->data, (back ? box : padded) + x,
                          (spry_scalar){sign * v.re, (conjugate ? -sign : sign) * v.im});
            }
        }
    }
    return SPRY_STATUS_OK;
}
