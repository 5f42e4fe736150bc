/*
 * Memory of a context: aligned, counted, limited, and made to fail on demand. A block's size lives
 * in a header of one alignment before it, so that it can be freed and counted without help from its
 * owner.
 *
 * Large blocks begin at different places of a page. Otherwise numbers of one index in all arrays
 * would have the same last twelve bits of their addresses: processors take a load for one that
 * follows a store to the same place when these agree, and wait.
 */
#include "base/background.h"
#include "base/bytes.h"

#include <private/programs.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

enum { PAGE = 4096, STAGGER = 17 * ALIGNMENT, LARGE = 1 << 20, VAST = 1 << 28 };

typedef struct header {
    size_t bytes;  /* of the whole block, header included */
    size_t before; /* bytes of it before the memory */
} header;

/* Small blocks are cut from what malloc() gives, which takes a fraction of the time: where that
 * began stands before them. Sanitizers see where a block ends only without that. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#if defined SANITIZED || defined __SANITIZE_ADDRESS__
enum { SMALL = 1 }; /* none: headers are longer */
#else
enum { SMALL = 1 << 14 };
#endif

static void *cut(size_t bytes)
{
    char *whole = malloc(bytes + ALIGNMENT);
    if (!whole)
        return NULL;
    char *block = whole + ALIGNMENT - (uintptr_t)whole % ALIGNMENT; /* malloc's own: 16 at least */
    memcpy(block - sizeof whole, &whole, sizeof whole);
    return block;
}

static void *default_allocate(void *data, size_t bytes, size_t alignment)
{
    (void)data;
    if (bytes < SMALL && alignment == ALIGNMENT)
        return cut(bytes);
    /* Arrays of products are streamed and gathered from: large pages spare the address look-ups. */
    bool large = bytes >= 2 * (size_t)HUGE_PAGE;
    void *memory = NULL;
    if (posix_memalign(&memory, large ? HUGE_PAGE : alignment, bytes) != 0)
        return NULL;
    if (large)
        madvise(memory, bytes, MADV_HUGEPAGE); /* advice: refusal does no harm */
    return memory;
}

static void default_release(void *data, void *memory, size_t bytes)
{
    (void)data;
    if (bytes < SMALL)
        memcpy(&memory, (char *)memory - sizeof memory, sizeof memory);
    free(memory);
}

spry_allocator base_default_allocator(void)
{
    return (spry_allocator){
        .size = sizeof(spry_allocator), .allocate = default_allocate, .release = default_release};
}

bool base_allocates_anywhere(const spry_context *ctx)
{
    return ctx->allocator.allocate == default_allocate;
}

static void count_memory(spry_context *ctx, int64_t bytes)
{
    ctx->memory_now += bytes;
    if (ctx->memory_now > ctx->memory_most)
        ctx->memory_most = ctx->memory_now;
}

void base_take_memory(spry_context *ctx, spry_context *from)
{
    count_memory(ctx, from->memory_most);
    ctx->memory_now -= from->memory_most - from->memory_now;
    from->memory_now = from->memory_most = 0;
}

/* Whether this allocation is one that a test wants to fail. */
static bool must_fail(spry_context *ctx)
{
    if (ctx->fail_in == 0)
        return false;
    if (ctx->fail_in > 1) {
        ctx->fail_in--;
        return false;
    }
    if (!ctx->fail_all)
        ctx->fail_in = 0;
    return true;
}

/* Whether the system has no room for so large a block now, unless it takes it from others: it would
 * lend it all the same, and end a process, or swap, when it is used. */
static bool is_refused(spry_context *ctx, size_t bytes)
{
    const int64_t left = bytes >= VAST && ctx->meminfo ? base_free_memory(ctx->meminfo) : 0;
    if (left == 0 || bytes <= (size_t)left)
        return false;
    SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY,
              "%zu bytes are more than the %" PRId64 " that are free; an explicit memory limit "
              "would let them be tried",
              bytes, left);
    return true;
}

/* Says what can be done: others than factors need less. */
static void exceed(spry_context *ctx, size_t bytes)
{
    const int64_t all = ctx->memory_now + (int64_t)bytes;
    char asked[BASE_BYTES], used[BASE_BYTES], limit[BASE_BYTES], more[BASE_ADVICE];
    SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY,
              "%s on top of %s in use exceed %s of %s: take less at once, or allow more, %s",
              base_bytes((double)bytes, asked), base_bytes((double)ctx->memory_now, used),
              ctx->meminfo ? "the limit that this machine or process has" : "the memory limit",
              base_bytes((double)ctx->options.memory_limit, limit),
              base_allow(ctx, all + (all >> 2), more));
}

void *spry_alloc(spry_context *ctx, size_t bytes)
{
    void *memory = NULL;
    if (!ctx)
        return NULL;
    if (bytes > PTRDIFF_MAX - ALIGNMENT - PAGE) {
        SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY, "%zu bytes are more than any memory holds", bytes);
        return NULL;
    }
    const size_t before = ALIGNMENT + (bytes >= LARGE ? ctx->large++ * STAGGER % PAGE : 0);
    size_t whole = bytes + before;
    int64_t limit = ctx->options.memory_limit;
    if (limit > 0 && (int64_t)whole > limit - ctx->memory_now) {
        exceed(ctx, bytes);
        return NULL;
    }
    if (is_refused(ctx, bytes))
        return NULL;
    char *block = NULL;
    if (!must_fail(ctx))
        block = ctx->allocator.allocate(ctx->allocator.data, whole, ALIGNMENT);
    if (!block) {
        SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY,
                  "no memory for %zu bytes on top of %" PRId64 " in use", bytes,
                  (int64_t)ctx->memory_now);
        return NULL;
    }
    memory = block + before;
    ((header *)(void *)(block + before - ALIGNMENT))[0] = (header){whole, before};
    count_memory(ctx, (int64_t)whole);
    return memory;
}

void spry_free(spry_context *ctx, void *memory)
{
    if (!memory || !ctx)
        return;
    const header h = *(const header *)(const void *)((const char *)memory - ALIGNMENT);
    ctx->memory_now -= (int64_t)h.bytes;
    ctx->allocator.release(ctx->allocator.data, (char *)memory - h.before, h.bytes);
}

void spry_context_memory(const spry_context *ctx, int64_t *now, int64_t *most)
{
    if (now)
        *now = ctx ? ctx->memory_now : 0;
    if (most)
        *most = ctx ? ctx->memory_most : 0;
}

int64_t spry_context_memory_limit(const spry_context *ctx)
{
    return ctx ? ctx->options.memory_limit : 0;
}

void base_fail_allocation(spry_context *ctx, int64_t nth, bool all)
{
    if (ctx) {
        ctx->fail_in = nth;
        ctx->fail_all = all;
    }
}

spry_status base_alloc(spry_context *ctx, int64_t count, size_t size, void *pointer_to_pointer)
{
    void *memory = NULL;
    size_t bytes = 0;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes)) {
        memcpy(pointer_to_pointer, &memory, sizeof memory);
        return SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY, "%" PRId64 " elements of %zu bytes do not fit",
                         count, size);
    }
    memory = spry_alloc(ctx, bytes);
    memcpy(pointer_to_pointer, &memory, sizeof memory);
    return memory ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
}

spry_status base_calloc(spry_context *ctx, int64_t count, size_t size, void *pointer_to_pointer)
{
    spry_status status = base_alloc(ctx, count, size, pointer_to_pointer);
    if (status == SPRY_STATUS_OK) {
        void *memory;
        memcpy(&memory, pointer_to_pointer, sizeof memory);
        memset(memory, 0, (size_t)count * size);
    }
    return status;
}

spry_status base_grow(spry_context *ctx, int64_t keep, int64_t count, size_t size,
                      void *pointer_to_pointer)
{
    void *old, *grown;
    memcpy(&old, pointer_to_pointer, sizeof old);
    spry_status status = base_alloc(ctx, count, size, &grown);
    if (status != SPRY_STATUS_OK)
        return status;
    if (old && keep > 0)
        memcpy(grown, old, (size_t)keep * size);
    spry_free(ctx, old);
    memcpy(pointer_to_pointer, &grown, sizeof grown);
    return SPRY_STATUS_OK;
}

spry_status base_copy(spry_context *ctx, const void *block, void *pointer_to_pointer)
{
    void *memory = NULL;
    memcpy(pointer_to_pointer, &memory, sizeof memory);
    if (!block)
        return SPRY_STATUS_OK;
    const header h = *(const header *)(const void *)((const char *)block - ALIGNMENT);
    const spry_status status =
        base_alloc(ctx, (int64_t)(h.bytes - h.before), 1, pointer_to_pointer);
    if (status == SPRY_STATUS_OK) {
        memcpy(&memory, pointer_to_pointer, sizeof memory);
        memcpy(memory, block, h.bytes - h.before);
    }
    return status;
}

void base_free(spry_context *ctx, void *memory)
{
    spry_free(ctx, memory);
}

char *base_copy_text(spry_context *ctx, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = spry_alloc(ctx, size);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}
