/* HDF5: the links of a group, in a symbol table (III.A to III.D) or in its header (IV.A.2.g). */
#include "io/hdf5.h"

enum { NODE = 24, ENTRY = 40, LEAF = 8, LINK = 0x06, DEEPEST = 16, LONGEST = 4096 };

typedef struct listing {
    hdf5_file *f;
    hdf5_span names; /* of a symbol table */
    hdf5_each_link each;
    void *data;
    bool done;
} listing;

/* The data segment of a local heap: names, each ended by a zero. */
static spry_status open_heap(listing *l, uint64_t address)
{
    spry_status status = SPRY_STATUS_OK;
    hdf5_span p;
    SPRY_GO(l->f->ctx, hdf5_piece(l->f, address, 32, &p));
    if (memcmp(p.data, "HEAP", 4) != 0)
        return hdf5_broken(l->f, "a group has no names");
    SPRY_GO(l->f->ctx,
            hdf5_piece(l->f, hdf5_number(p.data + 24, 8), hdf5_number(p.data + 8, 8), &l->names));
done:
    return status;
}

static spry_status read_leaf(listing *l, uint64_t address)
{
    spry_status status = SPRY_STATUS_OK;
    hdf5_span p;
    SPRY_GO(l->f->ctx, hdf5_piece(l->f, address, LEAF, &p));
    if (memcmp(p.data, "SNOD", 4) != 0)
        return hdf5_broken(l->f, "a group has no entries where they should be");
    const uint64_t count = hdf5_number(p.data + 6, 2);
    SPRY_GO(l->f->ctx, hdf5_piece(l->f, address + LEAF, count * ENTRY, &p));
    for (uint64_t k = 0; k < count && !l->done; k++) {
        const char *entry = p.data + k * ENTRY;
        const uint64_t name = hdf5_number(entry, 8);
        SPRY_GO(l->f->ctx, hdf5_step(l->f));
        const uint64_t room = name < l->names.size ? l->names.size - name : 0;
        if (room == 0 ||
            !memchr(l->names.data + name, '\0', room < LONGEST ? (size_t)room : LONGEST))
            return hdf5_broken(l->f, "a name lies outside the names");
        SPRY_GO(l->f->ctx,
                l->each(l->data, l->names.data + name, hdf5_number(entry + 8, 8), &l->done));
    }
done:
    return status;
}

static spry_status read_node(listing *l, uint64_t address, int depth)
{
    spry_status status = SPRY_STATUS_OK;
    hdf5_span p;
    SPRY_GO(l->f->ctx, hdf5_step(l->f));
    SPRY_GO(l->f->ctx, hdf5_piece(l->f, address, NODE, &p));
    if (memcmp(p.data, "TREE", 4) != 0 || p.data[4] != 0 || depth > DEEPEST)
        return hdf5_broken(l->f, "a group has no tree of its entries");
    const bool leaves = p.data[5] == 0;
    const uint64_t count = hdf5_number(p.data + 6, 2);
    SPRY_GO(l->f->ctx, hdf5_piece(l->f, address + NODE, count * 16 + 8, &p));
    for (uint64_t k = 0; k < count && !l->done; k++) {
        const uint64_t child = hdf5_number(p.data + 16 * k + 8, 8);
        SPRY_GO(l->f->ctx, leaves ? read_leaf(l, child) : read_node(l, child, depth + 1));
    }
done:
    return status;
}

/* A link in the header: flags hold what comes before the name and the width of its length. */
static spry_status take_link(void *data, const hdf5_message *m)
{
    listing *l = data;
    char name[HDF5_NAME];
    if (m->type != LINK || m->shared || l->done)
        return SPRY_STATUS_OK;
    hdf5_span body = m->body;
    const char *p = hdf5_take(&body, 2);
    if (!p || p[0] != 1)
        return hdf5_broken(l->f, "a link of an unknown version");
    const int flags = (unsigned char)p[1];
    const char *kind = flags & 8 ? hdf5_take(&body, 1) : "\0";
    const size_t width = (size_t)1 << (flags & 3);
    const size_t skip = (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0);
    const char *length = hdf5_take(&body, skip) ? hdf5_take(&body, width) : NULL;
    const uint64_t size = length ? hdf5_number(length, width) : 0;
    const char *text = length && size <= body.size ? hdf5_take(&body, (size_t)size) : NULL;
    if (!kind || !text)
        return hdf5_broken(l->f, "a link is cut short");
    if (*kind != 0 || body.size < 8)
        return SPRY_STATUS_OK; /* to a name or to another file */
    snprintf(name, sizeof name, "%.*s", (int)(size < sizeof name ? size : sizeof name), text);
    return l->each(l->data, name, hdf5_number(body.data, 8), &l->done);
}

spry_status hdf5_links(hdf5_file *f, const hdf5_object *group, hdf5_each_link each, void *data)
{
    spry_status status = SPRY_STATUS_OK;
    listing l = {.f = f, .each = each, .data = data};
    if (group->dense_links)
        return hdf5_unsupported(f, "a group of many links in the new style");
    if (group->tree == 0)
        return hdf5_messages(f, group->address, take_link, &l);
    SPRY_GO(f->ctx, open_heap(&l, group->heap));
    SPRY_GO(f->ctx, read_node(&l, group->tree, 0));
done:
    return status;
}

typedef struct finding {
    const char *name;
    uint64_t address;
} finding;

static spry_status compare(void *data, const char *name, uint64_t address, bool *done)
{
    finding *f = data;
    if (strcmp(name, f->name) == 0) {
        f->address = address;
        *done = true;
    }
    return SPRY_STATUS_OK;
}

spry_status hdf5_find(hdf5_file *f, const hdf5_object *group, const char *name, hdf5_object *object)
{
    spry_status status = SPRY_STATUS_OK;
    finding look = {name, 0};
    *object = (hdf5_object){0};
    SPRY_GO(f->ctx, hdf5_links(f, group, compare, &look));
    if (look.address)
        SPRY_GO(f->ctx, hdf5_describe(f, look.address, object));
done:
    return status;
}
