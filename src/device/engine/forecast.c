/* See forecast.h. */
#include "device/engine/forecast.h"

#include "device/engine/engine.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_SIZE = 4200, FILE_MOST = 512, FEW_PROGRAMS = 20 };

/* As an H200 has them, on a slow day. */
static const device_pace usual = {.start = 0.35, .read = 1.5e12, .bus = 1e10};
static const double compiling = 1.5;  /* seconds of a first solve, on all cores */
static const double launching = 8e-6; /* of a product beyond its bytes */

/* --- remembering ---------------------------------------------------------------------------------
 */

/* One file a machine: folders may be shared by several. */
static bool file_name(const char *engine, bool make, char path[PATH_SIZE])
{
    char folder[4000], machine[64] = "";
    if (!base_cache_folder(folder, sizeof folder) || (make && base_make_folders(folder) != 0))
        return false;
    (void)gethostname(machine, sizeof machine - 1);
    for (char *c = machine; *c; c++)
        *c = *c == '/' ? '-' : *c;
    snprintf(path, PATH_SIZE, "%s/pace-%s-%s.device", folder, engine, machine);
    return true;
}

static void write_record(const device_pace *pace, char text[FILE_MOST])
{
    snprintf(text, FILE_MOST,
             "spry pace 1\n%.4f seconds to open\n%.0f bytes per second read\n"
             "%.0f bytes per second copied\n",
             pace->start, pace->read, pace->bus);
}

/* The numbers at the beginnings of lines; a file that would not be written so is ignored. */
static bool read_record(const char *text, device_pace *pace)
{
    char again[FILE_MOST];
    double *const numbers[] = {&pace->start, &pace->read, &pace->bus};
    const char *line = text;
    for (int k = 0; k < 3; k++) {
        line = strchr(line, '\n');
        if (!line || !base_parse_double(++line, text + strlen(text), numbers[k]) ||
            !(*numbers[k] > 0))
            return false;
    }
    write_record(pace, again);
    return strcmp(text, again) == 0;
}

device_pace device_pace_recall(const char *engine)
{
    char path[PATH_SIZE], text[FILE_MOST + 1] = "";
    int64_t size = 0;
    device_pace found = usual;
    if (!file_name(engine, false, path))
        return usual;
    const int file = base_file_open(path, FILE_MOST, &size);
    if (file < 0 || base_file_fill(file, text, size) != size || !read_record(text, &found))
        return usual;
    return found;
}

static bool differs(double a, double b)
{
    const double much = 1.2;
    return a > much * b || b > much * a;
}

void device_pace_remember(const spry_device *d)
{
    char path[PATH_SIZE], text[FILE_MOST];
    const device_pace before = device_pace_recall(d->engine->name);
    const device_pace now = {.start = d->opening > 0 ? d->opening : before.start,
                             .read = d->read_bandwidth > 0 ? d->read_bandwidth : before.read,
                             .bus = d->bus_rate > 0 ? d->bus_rate : before.bus};
    if (!d->facts.has_pointers || d->lost)
        return;
    if (!differs(now.start, before.start) && !differs(now.read, before.read) &&
        !differs(now.bus, before.bus))
        return;
    if (!file_name(d->engine->name, true, path))
        return;
    write_record(&now, text);
    (void)base_file_replace(path, text, strlen(text)); /* it serves the next forecast alone */
}

bool device_forecast_compiled(void)
{
    char folder[4000], programs[PATH_SIZE];
    int count = 0;
    if (!base_cache_folder(folder, sizeof folder))
        return false;
    snprintf(programs, sizeof programs, "%s/programs", folder);
    DIR *all = opendir(programs);
    while (all && count < FEW_PROGRAMS && readdir(all))
        count++;
    if (all)
        closedir(all);
    return count >= FEW_PROGRAMS;
}

/* --- forecasts -----------------------------------------------------------------------------------
 */

device_forecast device_forecast_make(const device_pace *pace, const device_work_load *load,
                                     double host_rate)
{
    device_forecast f = {.start = load->open ? 0 : pace->start,
                         .compile = load->compiled ? 0 : compiling,
                         .bus = load->bytes / pace->bus,
                         .work = load->products * (load->bytes / pace->read + launching),
                         .host = load->products * load->bytes / host_rate};
    f.all = f.start + f.compile + f.bus + f.work;
    return f;
}
