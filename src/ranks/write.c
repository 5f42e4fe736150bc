/*
 * Writing a vector by all ranks: each formats its lines twice, to know how long they are and then
 * to put them where those before it end. The first rank makes the file under another name and gives
 * it its own when everybody has written.
 */
#include "ranks/files.h"

#include "io/mtx.h"

#include <private/programs.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { BLOCK = 1 << 13, NAME = 4200 };

typedef struct numbers {
    spry_type type;
    int64_t count;
    const void *values;
    const char *comment;
} numbers;

/* Writes all bytes at a place; 0 or errno. */
static int write_at(int fd, const char *data, size_t size, int64_t at)
{
    while (size > 0) {
        const ssize_t wrote = pwrite(fd, data, size, (off_t)at);
        if (wrote < 0 && errno != EINTR)
            return errno;
        if (wrote > 0) {
            data += wrote;
            at += wrote;
            size -= (size_t)wrote;
        }
    }
    return 0;
}

/* The lines of this rank, written from a place on, or only counted (fd < 0); 0 or errno. */
static int put_lines(const numbers *n, char *text, int fd, int64_t at, int64_t *length)
{
    int error = 0;
    *length = 0;
    for (int64_t k = 0; k < n->count && !error; k += BLOCK) {
        const range block = {k, k + BLOCK < n->count ? k + BLOCK : n->count};
        const size_t size = io_mtx_format_numbers(n->type, n->values, block, text);
        if (fd >= 0)
            error = write_at(fd, text, size, at + *length);
        *length += (int64_t)size;
    }
    return error;
}

/* To the file of that name, on the disk. */
static spry_status put_into(spry_context *ctx, const char *path, const char *name, const numbers *n,
                            char *text, int64_t at)
{
    int64_t length;
    const int fd = open(name, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return io_system_fault(ctx, path, errno);
    int error = put_lines(n, text, fd, at, &length);
    if (!error && fsync(fd) != 0 && errno != EINVAL)
        error = errno;
    if (close(fd) != 0 && !error)
        error = errno;
    return error ? io_system_fault(ctx, path, error) : SPRY_STATUS_OK;
}

/* The first rank's file and its head, whose length goes before all lines. */
static spry_status begin(spry_context *ctx, const char *path, const numbers *n, int64_t all,
                         io_writer **w, char name[NAME], int64_t *length)
{
    char head[512];
    const spry_status status = io_create_named(ctx, path, w);
    if (status != SPRY_STATUS_OK)
        return status;
    *length =
        snprintf(head, sizeof head, "%%%%MatrixMarket matrix array %s general\n%s%" PRId64 " 1\n",
                 io_mtx_field(n->type), n->comment ? n->comment : "", all);
    io_write(*w, head, (size_t)*length);
    if (snprintf(name, NAME, "%s", io_temporary_name(*w)) >= NAME)
        return io_system_fault(ctx, path, ENAMETOOLONG);
    return SPRY_STATUS_OK;
}

/* *together is false where that does not go: pipes and devices are written in place. */
static spry_status write_together(spry_context *ctx, const char *path, const numbers *n,
                                  int64_t all, bool *together)
{
    const int me = team_rank(ctx);
    char *text = NULL, name[NAME] = "";
    int64_t *offsets = NULL, length = 0, head = 0;
    io_writer *w = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, BLOCK, MTX_LINE, &text)));
    if (me == 0)
        status = begin(ctx, path, n, all, &w, name, &head);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_share(ctx, 0, name, sizeof name));
    *together = name[0] != '\0';
    if (!*together)
        goto done;
    (void)put_lines(n, text, -1, 0, &length);
    SPRY_GO(ctx, team_offsets(ctx, length + head, &offsets));
    status = put_into(ctx, path, name, n, text, offsets[me] + head);
    SPRY_GO(ctx, team_agree(ctx, status));
    if (me == 0) {
        status = io_commit(ctx, w);
        w = NULL;
    }
    SPRY_GO(ctx, team_agree(ctx, status));
done:
    io_abort(ctx, w);
    base_free(ctx, text);
    base_free(ctx, offsets);
    return status;
}

/* All of it to the first rank, which writes. */
static spry_status write_alone(spry_context *ctx, const char *path, const numbers *n,
                               const int64_t *first)
{
    const int ranks = team_ranks(ctx), me = team_rank(ctx);
    const int64_t size = (int64_t)spry_type_size(n->type), all = first[ranks] - first[0];
    int64_t *send = NULL, *receive = NULL;
    spry_vector *v = NULL;
    spry_status status = base_calloc(ctx, ranks, sizeof *send, &send);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, ranks, sizeof *receive, &receive);
    if (status == SPRY_STATUS_OK && me == 0)
        status = spry_vector_new(ctx, n->type, all, NULL, SPRY_OWN_TAKE, &v);
    SPRY_GO(ctx, team_agree(ctx, status));
    send[0] = n->count * size;
    for (int r = 0; r < ranks && me == 0; r++)
        receive[r] = (first[r + 1] - first[r]) * size;
    SPRY_GO(ctx, team_swap(ctx, send, n->values, receive, v ? v->data : NULL));
    status = v ? spry_vector_write(v, path) : SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, status));
done:
    spry_vector_free(v);
    base_free(ctx, send);
    base_free(ctx, receive);
    return status;
}

spry_status ranks_write_vector(spry_context *ctx, const char *path, const char *comment,
                               spry_type type, const int64_t *first, const void *values)
{
    const int ranks = team_ranks(ctx), me = team_rank(ctx);
    const numbers n = {type, first[me + 1] - first[me], values, comment};
    bool together = (ranks > 1 || comment) && io_ends_with(path, strlen(path), ".mtx");
    spry_status status = SPRY_STATUS_OK;
    if (me == 0)
        status = spry_file_check_name(ctx, path, true);
    SPRY_GO(ctx, team_agree(ctx, status));
    if (together)
        SPRY_GO(ctx, write_together(ctx, path, &n, first[ranks] - first[0], &together));
    if (!together)
        SPRY_GO(ctx, write_alone(ctx, path, &n, first));
done:
    return status;
}
