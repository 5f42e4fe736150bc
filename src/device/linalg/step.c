/* Steps by rows on the host, by a kernel of the format on a device, or by a product and a pass. */
#include "device/linalg/step.h"

#include "device/engine/device.h"
#include "device/linalg/vector.h"
#include "formats/shared/device_formats.h"

enum { PIECE = 1024, GROUP = 256 };

struct operator_step {
    const spry_operator *op;
    spry_transpose transpose;
    operator_rows rows; /* of the host; run is NULL where there are none */
    int parts;
    range *parts_of;         /* pieces of rows for each part */
    device_rows device_rows; /* of a device; text is NULL where there are none */
    device_program *program;
    spry_vector *sum; /* of a product made whole */
};

/* --- the host ------------------------------------------------------------------------------------
 */

static int64_t rows_of(const operator_step *s)
{
    return s->transpose == SPRY_TRANSPOSE_NO ? s->op->rows : s->op->cols;
}

/* Cuts pieces of rows so that each part has about the same work. */
static spry_status cut(operator_step *s)
{
    const int64_t n = rows_of(s), pieces = (n + PIECE - 1) / PIECE;
    const int64_t all = s->rows.work(&s->rows, n);
    s->parts = host_threads(s->op->ctx, all);
    const spry_status status = base_alloc(s->op->ctx, s->parts, sizeof *s->parts_of, &s->parts_of);
    if (status != SPRY_STATUS_OK)
        return status;
    int64_t piece = 0;
    for (int p = 0; p < s->parts; p++) {
        const int64_t begin = piece;
        while (piece < pieces && (p == s->parts - 1 ||
                                  s->rows.work(&s->rows, piece * PIECE) < all / s->parts * (p + 1)))
            piece++;
        s->parts_of[p] = (range){begin, piece};
    }
    return SPRY_STATUS_OK;
}

static const void *at(const spry_vector *v, int64_t i)
{
    return v ? (const char *)v->data + (size_t)i * spry_type_size(v->type) : NULL;
}

typedef struct step_job {
    const operator_step *s;
    const host_step *c;
    const spry_vector *f, *b, *x;
    spry_vector *y;
} step_job;

static void run_rows(void *argument, int part, int parts)
{
    const step_job *j = argument;
    const operator_step *s = j->s;
    const host_kernels *kernels = host_kernels_for(s->op->ctx, s->op->type);
    const int64_t n = rows_of(s);
    _Alignas(64) char sums[PIECE * 16];
    (void)parts;
    for (int64_t piece = s->parts_of[part].begin; piece < s->parts_of[part].end; piece++) {
        const int64_t begin = piece * PIECE, end = begin + PIECE < n ? begin + PIECE : n;
        s->rows.run(&s->rows, begin, end, j->x->data, sums);
        kernels->step(end - begin, j->c, sums, at(j->f, begin), at(j->b, begin), at(j->x, begin),
                      (void *)(uintptr_t)at(j->y, begin));
    }
}

/* The pass after a product made whole. */
static void run_elements(void *argument, int share, int shares)
{
    const step_job *j = argument;
    const operator_step *s = j->s;
    const host_kernels *kernels = host_kernels_for(s->op->ctx, s->op->type);
    const range mine = base_share(rows_of(s), shares, share, PIECE);
    for (int64_t begin = mine.begin; begin < mine.end; begin += PIECE) {
        const int64_t end = begin + PIECE < mine.end ? begin + PIECE : mine.end;
        kernels->step(end - begin, j->c, at(s->sum, begin), at(j->f, begin), at(j->b, begin),
                      j->c->gamma != 0 ? at(j->x, begin) : NULL,
                      (void *)(uintptr_t)at(j->y, begin));
    }
}

/* --- devices -------------------------------------------------------------------------------------
 */

static int group_of(const device_rows *rows)
{
    return rows->text && rows->group > 0 ? rows->group : GROUP;
}

static spry_status build(spry_device *d, spry_type type, const device_rows *rows,
                         device_program **p)
{
    spry_context *ctx = d->ctx;
    base_text out = {.ctx = ctx};
    char *text = NULL, options[96];
    spry_status status = SPRY_STATUS_OK;
    base_text_put(&out, "%s", device_text("step"));
    if (rows->text)
        base_text_put(
            &out,
            "%s\n"
            "SP_KERNEL step_rows(const offset positions, %s, SP_GLOBAL const scalar *f,\n"
            "    SP_GLOBAL const scalar *b, SP_GLOBAL const scalar *x, SP_GLOBAL scalar *y,\n"
            "    const int scaled, const double alpha, const double beta, const double gamma,\n"
            "    const double delta)\n"
            "{\n"
            "    SP_LANE_ROOM(room);\n"
            "    const offset place = SP_GLOBAL_ID / %d;\n"
            "    const int lane = SP_LOCAL_ID %% %d;\n"
            "    const int row = place < positions ? S_row_at(%s, (int)place) : -1;\n"
            "    scalar sum[1];\n"
            "    sum[0] = SP_ZERO;\n"
            "    if (row >= 0)\n"
            "        S_row(%s, x, 1, (int)place, lane, sum);\n"
            "    sum[0] = sp_lanes_sum(sum[0], %d, SP_LANES_PASS(room));\n"
            "    if (row >= 0 && lane == 0)\n"
            "        step_put(row, sum[0], f, b, x, y, scaled, alpha, beta, gamma, delta);\n"
            "}\n",
            rows->text, rows->args_text, rows->lanes, rows->lanes, rows->pass_text, rows->pass_text,
            rows->lanes);
    SPRY_GO(ctx, base_text_take(&out, &text));
    snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_KIND=%d -DSP_GROUP=%d", (int)type,
             rows->text ? (int)rows->kind : 0, group_of(rows));
    SPRY_GO(ctx, device_build(d, text, options, p));
done:
    base_free(ctx, text);
    return status;
}

static device_arg memory_of(const spry_vector *v)
{
    return v ? device_arg_memory(v->memory) : (device_arg){NULL, NULL, 0};
}

static spry_status launch(const operator_step *s, const host_step *c, const spry_vector *f,
                          const spry_vector *b, const spry_vector *x, spry_vector *y)
{
    device_arg args[DEVICE_MOST_ARRAYS + DEVICE_MOST_NUMBERS + 16];
    const bool by_rows = s->device_rows.text != NULL;
    const int group = group_of(&s->device_rows);
    const int64_t n = by_rows ? s->device_rows.positions : rows_of(s);
    const int64_t items = by_rows ? n * s->device_rows.lanes : n;
    const int scaled = f != NULL;
    int count = 0;
    args[count++] = DEVICE_VALUE(n);
    if (by_rows)
        for (int k = 0; k < s->device_rows.arg_count; k++)
            args[count++] = s->device_rows.args[k];
    else
        args[count++] = memory_of(s->sum);
    args[count++] = memory_of(f);
    args[count++] = memory_of(c->beta != 0 ? b : NULL);
    args[count++] = memory_of(by_rows || c->gamma != 0 ? x : NULL);
    args[count++] = memory_of(y);
    args[count++] = DEVICE_VALUE(scaled);
    args[count++] = DEVICE_VALUE(c->alpha);
    args[count++] = DEVICE_VALUE(c->beta);
    args[count++] = DEVICE_VALUE(c->gamma);
    args[count++] = DEVICE_VALUE(c->delta);
    return device_launch(s->program, by_rows ? "step_rows" : "step_elements", NULL,
                         (items + group - 1) / group, group, args, count);
}

/* --- the object ----------------------------------------------------------------------------------
 */

void step_free(operator_step *s)
{
    if (!s)
        return;
    base_free(s->op->ctx, s->parts_of);
    base_free(s->op->ctx, s->device_rows.text);
    spry_vector_free(s->sum);
    base_free(s->op->ctx, s);
}

spry_status step_open(const spry_operator *op, spry_transpose transpose, operator_step **step)
{
    spry_context *ctx = op->ctx;
    operator_step *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    *step = NULL;
    status = base_calloc(ctx, 1, sizeof *s, &s);
    /* Rows of A^T are made by all ranks together. */
    SPRY_GO(ctx, operator_agree(op, status));
    s->op = op;
    s->transpose = transpose;
    if (op->device) {
        if (!op->class->apply)
            SPRY_GO(ctx, device_open_rows(op, transpose, STEP_PREFIX, 1, &s->device_rows));
        SPRY_GO(ctx, build(op->device, op->type, &s->device_rows, &s->program));
    } else {
        SPRY_GO(ctx, operator_open_rows(op, transpose, &s->rows));
        if (s->rows.begin) /* its rows wait for other ranks' elements */
            s->rows.run = NULL;
        if (s->rows.run)
            SPRY_GO(ctx, cut(s));
    }
    if (!s->rows.run && !s->device_rows.text) {
        SPRY_GO(ctx, vector_new_at(ctx, op->device, op->type, rows_of(s), &s->sum));
        s->sum->part = transpose == SPRY_TRANSPOSE_NO ? op->rows_part : op->cols_part;
    }
    *step = s;
    s = NULL;
done:
    step_free(s);
    return status;
}

spry_status step_run(const operator_step *s, host_step c, const spry_vector *f,
                     const spry_vector *b, const spry_vector *x, spry_vector *y)
{
    spry_status status = SPRY_STATUS_OK;
    step_job job = {s, &c, f, b, x, y};
    if (s->rows.run)
        SPRY_GO(s->op->ctx, operator_follow(s->op)); /* its rows were opened before */
    if (s->sum) {
        SPRY_GO(s->op->ctx, spry_operator_multiply(s->op, s->transpose, (spry_scalar){1, 0}, x,
                                                   (spry_scalar){0, 0}, s->sum));
    }
    if (s->op->device)
        SPRY_GO(s->op->ctx, launch(s, &c, f, b, x, y));
    else if (s->rows.run)
        base_share_out(s->op->ctx, s->parts, run_rows, &job);
    else
        base_share_out(s->op->ctx, host_threads(s->op->ctx, rows_of(s)), run_elements, &job);
done:
    return status;
}
