/* Runs a fuzz target over the files of the folders given, in the order of their names:
 * `test_fuzz NAME FOLDER ...`. FUZZ_ENTRIES is written by CMake, an item for each target. */
#include "fuzz_entries.h"

#include <dirent.h>
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

static int replay(const fuzz_entry *entry, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
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
    /* A block of the exact size lets the sanitizer see a step past the end. */
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (!exact)
        abort();
    memcpy(exact, data, size);
    free(data);
    printf("%s\n", path);
    entry->run(exact, size);
    free(exact);
    return 0;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_folder(const fuzz_entry *entry, const char *folder)
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
        faults += replay(entry, path);
        free(entries[i]);
    }
    free(entries);
    return faults;
}

int main(int argc, char **argv)
{
    int faults = argc < 3, found = 0;
    for (size_t e = 0; e < sizeof fuzz_entries / sizeof *fuzz_entries; e++) {
        if (argc < 2 || strcmp(argv[1], fuzz_entries[e].name) != 0)
            continue;
        found = 1;
        for (int i = 2; i < argc; i++)
            faults += replay_folder(fuzz_entries + e, argv[i]);
    }
    return !found || faults != 0;
}
