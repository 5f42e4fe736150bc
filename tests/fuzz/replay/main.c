/* Runs a fuzz target over the files of the folders given, in the order of their names. */
#include "../fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int replay(const char *path)
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
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 0;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_folder(const char *folder)
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
        faults += replay(path);
        free(entries[i]);
    }
    free(entries);
    return faults;
}

int main(int argc, char **argv)
{
    int faults = argc < 2;
    for (int i = 1; i < argc; i++)
        faults += replay_folder(argv[i]);
    return faults != 0;
}
