/* What the host is: its processor's name, cores, memory and caches, as Linux reports them. */
#include "host/host.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

/* arm64 reports numbers in place of a name: the designer's and the part's. */
static const struct arm_part {
    unsigned designer, part;
    const char *name;
} arm_parts[] = {
    {0x41, 0xd03, "ARM Cortex-A53"},
    {0x41, 0xd07, "ARM Cortex-A57"},
    {0x41, 0xd08, "ARM Cortex-A72"},
    {0x41, 0xd0b, "ARM Cortex-A76"},
    {0x41, 0xd0c, "ARM Neoverse-N1"},
    {0x41, 0xd40, "ARM Neoverse-V1"},
    {0x41, 0xd49, "ARM Neoverse-N2"},
    {0x41, 0xd4f, "ARM Neoverse-V2"},
    {0x41, 0xd84, "ARM Neoverse-V3"},
    {0x41, 0xd8e, "ARM Neoverse-N3"},
    {0x43, 0x0af, "Cavium ThunderX2"},
    {0x46, 0x001, "Fujitsu A64FX"},
    {0x48, 0xd01, "HiSilicon Kunpeng 920"},
    {0x61, 0x022, "Apple M1"},
    {0xc0, 0xac3, "Ampere-1"},
    {0xc0, 0xac4, "Ampere-1A"},
};

/* The value of the first line "key : value" of the text; false when there is none. */
static bool find_value(const char *text, const char *key, char *value, size_t size)
{
    const size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) != 0)
            continue;
        const char *at = line + length + strspn(line + length, " \t");
        if (*at++ != ':')
            continue;
        at += strspn(at, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
        return true;
    }
    return false;
}

void host_processor_name(const char *cpuinfo, char *name, size_t size)
{
    char designer[32] = "", part[32] = "";
    name[0] = '\0';
    if (find_value(cpuinfo, "model name", name, size))
        return;
    if (!find_value(cpuinfo, "CPU implementer", designer, sizeof designer) ||
        !find_value(cpuinfo, "CPU part", part, sizeof part))
        return;
    const unsigned long d = strtoul(designer, NULL, 0), p = strtoul(part, NULL, 0);
    for (size_t i = 0; i < sizeof arm_parts / sizeof *arm_parts; i++) {
        if (arm_parts[i].designer == d && arm_parts[i].part == p) {
            snprintf(name, size, "%s", arm_parts[i].name);
            return;
        }
    }
    snprintf(name, size, "ARM designer 0x%lx part 0x%lx", d, p);
}

void host_this_processor(char *name, size_t size)
{
    char text[4096];
    FILE *file = fopen("/proc/cpuinfo", "re");
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    if (file)
        (void)fclose(file);
    host_processor_name(text, name, size);
}

/* The beginning of a small file as text; "" when it cannot be read. */
static void read_text(const char *path, char *text, size_t size)
{
    text[0] = '\0';
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    text[fread(text, 1, size - 1, file)] = '\0';
    (void)fclose(file);
}

/* Reads /sys/devices/system/cpu/cpu<cpu>/<name>. */
static void read_cpu_text(int cpu, const char *name, char *text, size_t size)
{
    char path[160];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
    read_text(path, text, size);
}

/* How many sets of processors share a thing: each is counted at the first processor of its list. */
static int count_shared(const char *list_name)
{
    char text[256];
    int count = 0;
    const long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < cpus; cpu++) {
        read_cpu_text(cpu, list_name, text, sizeof text);
        count += isdigit((unsigned char)text[0]) && atoi(text) == cpu;
    }
    return count;
}

int64_t host_cache_bytes(void)
{
    /* The highest level that processor 0 knows of. */
    int64_t bytes = 0;
    char name[64], text[64];
    int most = 0, index = -1;
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "cache/index%d/level", i);
        read_cpu_text(0, name, text, sizeof text);
        if (atoi(text) > most) {
            most = atoi(text);
            index = i;
        }
    }
    if (index < 0)
        return 0;
    snprintf(name, sizeof name, "cache/index%d/size", index);
    read_cpu_text(0, name, text, sizeof text);
    char *unit;
    bytes = strtol(text, &unit, 10);
    bytes *= *unit == 'K' ? 1024 : *unit == 'M' ? 1024 * 1024 : 1;
    snprintf(name, sizeof name, "cache/index%d/shared_cpu_list", index);
    const int caches = count_shared(name);
    return bytes * (caches > 0 ? caches : 1);
}

void host_describe(const spry_context *ctx, spry_device_info *info)
{
    char text[4096];
    read_text("/proc/cpuinfo", text, sizeof text);
    host_processor_name(text, info->description, sizeof info->description);
    snprintf(info->name, sizeof info->name, "cpu");
    snprintf(info->kind, sizeof info->kind, "cpu");
    snprintf(info->isa, sizeof info->isa, "%s", spry_context_isa(ctx));
    for (int level = 0; level < isa_count(); level++) {
        if (isa_usable(level))
            base_add_word(info->isa_list, sizeof info->isa_list, isa_name(level));
    }
    const int cores = count_shared("topology/thread_siblings_list");
    info->cores = cores > 0 ? cores : (int)sysconf(_SC_NPROCESSORS_ONLN);
    info->units = info->cores;
    info->usable = true;
    info->threads = spry_context_threads(ctx);
    info->memory_bytes = base_machine_memory();
    info->cache_bytes = host_cache_bytes();
}
