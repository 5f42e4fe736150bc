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
        if (!strstr(entry->d_name, ".bin"))
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

size_t place_list(char path[256], char *all, size_t size)
{
    FILE *found = popen("ls $SPRY_CACHE/programs/*.list", "r");
    assert_non_null(found);
    assert_non_null(fgets(path, 256, found));
    pclose(found);
    path[strcspn(path, "\n")] = '\0';
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t length = fread(all, 1, size, file);
    fclose(file);
    return length;
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

spry_device_info opened_described(spry_context *ctx, const char *name)
{
    spry_device_info info = {0};
    for (int i = 1; spry_device_describe(ctx, i, &info) && strcmp(info.name, name) != 0;)
        i++;
    assert_string_equal(info.name, name);
    return info;
}

int fake_setup(void **engine)
{
    fake_engine *e = *engine;
    place_open(&e->place);
    for (int k = 0; k < 2 && e->variables[k]; k++)
        set_variable(e->variables[k], e->library);
    set_variable(e->weather, NULL);
    return 0;
}

int fake_teardown(void **engine)
{
    fake_engine *e = *engine;
    place_close(&e->place);
    for (int k = 0; k < 2 && e->variables[k]; k++)
        set_variable(e->variables[k], NULL);
    return 0;
}

void fake_open(const fake_engine *engine, const char *weather, opened *s)
{
    set_variable(engine->weather, weather);
    opened_open(s, engine->kind);
}

void fake_refused(const fake_engine *engine, const char *library, const char *weather,
                  const char *what, const char *advice)
{
    opened s;
    char why[256];
    set_variable(engine->variables[0], library);
    set_variable(engine->weather, weather);
    const spry_status status = opened_try(&s, engine->kind);
    assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED, status);
    assert_null(s.d);
    support_message_has(s.ctx, what);
    support_message_has(s.ctx, advice);
    assert_int_equal(device_count(s.ctx, engine->kind, why, sizeof why), 0);
    assert_non_null(strstr(why, what));
    const spry_device_info info = opened_described(s.ctx, engine->kind);
    assert_false(info.usable);
    assert_non_null(strstr(info.why, what));
    assert_non_null(strstr(info.why, advice));
    opened_close(&s);
}
