/* Runs a fuzz target over the files of the folders given, in the order of their names:
 * `test_fuzz NAME FOLDER ...`; with `--damage FIRST COUNT` before the folders over so many damaged
 * copies of them, of which number k is the same in every run. FUZZ_ENTRIES is written by CMake, an
 * item for each target. */
#include "fuzz_entries.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY(name) int fuzz_one_##name(const uint8_t *data, size_t size);
FUZZ_ENTRIES(ENTRY)
#undef ENTRY

typedef struct fuzz_entry {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
} fuzz_entry;
static const fuzz_entry fuzz_entries[] = {
#define ENTRY(name) {#name, fuzz_one_##name},
    FUZZ_ENTRIES(ENTRY)
#undef ENTRY
};

typedef struct input {
    uint8_t *data; /* of the exact size, so that the sanitizer sees a step past the end */
    size_t size;
} input;

enum { MOST_INPUTS = 4096 };
static input kept[MOST_INPUTS]; /* to be damaged */
static size_t kept_count;

static void *block(size_t size)
{
    void *data = malloc(size > 0 ? size : 1);
    if (!data)
        abort();
    return data;
}

static bool load(const char *path, input *to)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return false;
    }
    uint8_t *data = NULL;
    size_t size = 0, room = 0, got;
    do {
        if (size == room) {
            room = room == 0 ? 4096 : 2 * room;
            data = realloc(data, room);
            if (!data)
                abort();
        }
        got = fread(data + size, 1, room - size, file);
        size += got;
    } while (got > 0);
    fclose(file);
    *to = (input){block(size), size};
    memcpy(to->data, data, size);
    free(data);
    return true;
}

/* --- damage ------------------------------------------------------------------------------------*/

/* S. Vigna's splitmix64. */
static uint64_t chance(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t most)
{
    return most > 0 ? (size_t)(chance(state) % most) : 0;
}

/* One change of *size bytes, which have room for twice as many. */
static void change(uint64_t *state, uint8_t *data, size_t *size)
{
    static const uint8_t telling[] = {0, 1, 0x7f, 0x80, 0xff, '\n', ' ', '-', '0', '9', '"', ':'};
    const size_t at = below(state, *size), left = *size - at;
    const size_t length = left > 0 ? 1 + below(state, left < 16 ? left : 16) : 0;
    if (*size == 0)
        return;
    switch (below(state, 6)) {
    case 0:
        data[at] ^= (uint8_t)(1 << below(state, 8));
        break;
    case 1:
        data[at] = telling[below(state, sizeof telling)];
        break;
    case 2: /* a number of 1 to 8 bytes, or any digits */
        for (size_t k = 0; k < length && k < 8; k++)
            data[at + k] = k == 0 ? (uint8_t)chance(state) : below(state, 2) ? 0xff : 0;
        break;
    case 3:
        memmove(data + at, data + at + length, left - length);
        *size -= length;
        break;
    case 4:
        memmove(data + at + length, data + at, left);
        *size += length;
        break;
    default:
        *size = below(state, 4) == 0 ? at : *size;
    }
}

static void damage(const fuzz_entry *entry, uint64_t number)
{
    enum { CHANGES = 8, ROOM = 16 * CHANGES };
    uint64_t state = number * UINT64_C(0xd1342543de82ef95);
    const input *from = &kept[below(&state, kept_count)];
    const size_t changes = 1 + below(&state, CHANGES);
    uint8_t *work = block(from->size + ROOM);
    size_t size = from->size;
    memcpy(work, from->data, size);
    for (size_t k = 0; k < changes; k++)
        change(&state, work, &size);
    uint8_t *exact = block(size);
    memcpy(exact, work, size);
    free(work);
    entry->run(exact, size);
    free(exact);
}

static int damage_all(const fuzz_entry *entry, uint64_t first, uint64_t count)
{
    if (kept_count == 0)
        return 1;
    for (uint64_t k = first; k < first + count; k++) {
        if (k % 1000 == 0)
            printf("%s: %llu\n", entry->name, (unsigned long long)k);
        damage(entry, k);
    }
    printf("%s: %llu damaged inputs, no finding\n", entry->name, (unsigned long long)count);
    return 0;
}

/* --- folders -----------------------------------------------------------------------------------*/

static int replay(const fuzz_entry *entry, const char *path, bool keep)
{
    input one;
    if (!load(path, &one))
        return 1;
    if (keep && kept_count < MOST_INPUTS) {
        kept[kept_count++] = one;
        return 0;
    }
    printf("%s\n", path);
    entry->run(one.data, one.size);
    free(one.data);
    return 0;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_folder(const fuzz_entry *entry, const char *folder, bool keep)
{
    struct dirent **entries;
    int faults = 0;
    const int count = scandir(folder, &entries, visible, alphasort);
    if (count <= 0) {
        fprintf(stderr, "%s: no inputs to replay\n", folder);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        faults += replay(entry, path, keep);
        free(entries[i]);
    }
    free(entries);
    return faults;
}

int main(int argc, char **argv)
{
    const bool damages = argc > 4 && strcmp(argv[2], "--damage") == 0;
    int faults = argc < 3, found = 0;
    setvbuf(stdout, NULL, _IOLBF, 0); /* what a crash was about is in the last line */
    for (size_t e = 0; e < sizeof fuzz_entries / sizeof *fuzz_entries; e++) {
        if (argc < 2 || strcmp(argv[1], fuzz_entries[e].name) != 0)
            continue;
        found = 1;
        for (int i = damages ? 5 : 2; i < argc; i++)
            faults += replay_folder(fuzz_entries + e, argv[i], damages);
        if (damages)
            faults += damage_all(fuzz_entries + e, strtoull(argv[3], NULL, 10),
                                 strtoull(argv[4], NULL, 10));
    }
    for (size_t k = 0; k < kept_count; k++)
        free(kept[k].data);
    return !found || faults != 0;
}
