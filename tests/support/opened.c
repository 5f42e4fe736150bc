/* Contexts, devices and cache folders of a test's own. */
#include "support/opened.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void set_variable(const char *name, const char *value)
{
    assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

void place_open(cache_place *place)
{
    snprintf(place->folder, sizeof place->folder, "/tmp/spry-programs-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    set_variable("SPRY_CACHE", place->folder);
}

void place_close(cache_place *place)
{
    char command[160];
    snprintf(command, sizeof command, "rm -rf '%s'", place->folder);
    assert_int_equal(system(command), 0);
}

static int find_programs(const cache_place *place, char path[256])
{
    char folder[128];
    int count = 0;
    snprintf(folder, sizeof folder, "%s/programs", place->folder);
    DIR *all = opendir(folder);
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        if (entry->d_name[0] == '.')
            continue;
        if (path)
            snprintf(path, 256, "%s/%.100s", folder, entry->d_name);
        count++;
    }
    if (all)
        closedir(all);
    return count;
}

int place_count(const cache_place *place)
{
    return find_programs(place, NULL);
}

void place_program(const cache_place *place, char path[256])
{
    assert_int_equal(find_programs(place, path), 1);
}

static void listen(void *data, spry_log_level level, const char *text)
{
    opened *s = data;
    s->warnings += level == SPRY_LOG_WARNING;
    s->infos += level == SPRY_LOG_INFO;
    snprintf(s->last, sizeof s->last, "%s", text);
}

spry_status opened_try(opened *s, const char *device)
{
    *s = (opened){.ctx = support_context("log=info")};
    spry_context_set_log(s->ctx, listen, s);
    return device_open(s->ctx, device, &s->d);
}

void opened_open(opened *s, const char *device)
{
    const spry_status status = opened_try(s, device);
    assert_ok(s->ctx, status);
}

void opened_close(opened *s)
{
    device_close(s->d);
    support_context_free(s->ctx);
    *s = (opened){0};
}
