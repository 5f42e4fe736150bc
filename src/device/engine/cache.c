/*
 * Compiled programs on disk. All of this may fail without harm: texts are then compiled again.
 * A file is written aside and renamed, so that two processes at once leave a whole one, and is
 * believed only when its header, its length and its checksum are right.
 */
#include "device/engine/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_DIGITS = 32, MOST_PROGRAM = 64 << 20, FORMAT_VERSION = 1 };

typedef struct entry_header {
    char magic[8];
    uint32_t version, header_bytes;
    cache_key key;
    uint64_t bytes;
    cache_key check; /* of the bytes */
} entry_header;

static const char magic[8] = "spryprog";

/* --- the hash ------------------------------------------------------------------------------------
 */

static uint64_t turn(uint64_t a, int bits)
{
    return a << bits | a >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int count)
{
    for (int i = 0; i < count; i++) {
        v[0] += v[1];
        v[1] = turn(v[1], 13) ^ v[0];
        v[0] = turn(v[0], 32);
        v[2] += v[3];
        v[3] = turn(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = turn(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = turn(v[1], 17) ^ v[2];
        v[2] = turn(v[2], 32);
    }
}

/* Up to eight bytes as a number, the first the lowest. */
static uint64_t little(const uint8_t *bytes, size_t count)
{
    uint64_t a = 0;
    for (size_t i = 0; i < count; i++)
        a |= (uint64_t)bytes[i] << 8 * i;
    return a;
}

cache_key cache_hash(const void *data, size_t size, const uint8_t secret[16])
{
    const uint8_t *p = data;
    const uint64_t k0 = little(secret, 8), k1 = little(secret + 8, 8);
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du ^ 0xee,
                     k0 ^ 0x6c7967656e657261u, k1 ^ 0x7465646279746573u};
    for (size_t left = size;; left -= 8, p += 8) {
        const bool last = left < 8;
        const uint64_t m = last ? little(p, left) | (uint64_t)(size & 0xff) << 56 : little(p, 8);
        v[3] ^= m;
        sip_rounds(v, 2);
        v[0] ^= m;
        if (last)
            break;
    }
    cache_key key;
    v[2] ^= 0xee;
    sip_rounds(v, 4);
    key.part[0] = v[0] ^ v[1] ^ v[2] ^ v[3];
    v[1] ^= 0xdd;
    sip_rounds(v, 4);
    key.part[1] = v[0] ^ v[1] ^ v[2] ^ v[3];
    return key;
}

cache_key cache_hash_of(const void *data, size_t size)
{
    static const uint8_t secret[16] = "spry programs 1";
    return cache_hash(data, size, secret);
}

/* --- the folder ----------------------------------------------------------------------------------
 */

static void warn_once(spry_device *d, spry_log_level level, const char *path, const char *reason)
{
    if (!d->cache->warned)
        base_log(d->ctx, level, "%s: %s; compiled programs are not kept", path, reason);
    d->cache->warned = true;
}

/* Whether no one else could have put code into it. */
static bool is_private(const struct stat *about)
{
    return about->st_uid == geteuid() && (about->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool cache_folder(spry_device *d, char *path, size_t size)
{
    struct stat about;
    char reason[128];
    const size_t length = base_cache_folder(path, size) ? strlen(path) : size;
    if (length + sizeof "/programs" + KEY_DIGITS + 16 > size) {
        warn_once(d, SPRY_LOG_INFO, "cache",
                  "SPRY_CACHE, XDG_CACHE_HOME or HOME would name a folder");
        return false;
    }
    memcpy(path + length, "/programs", sizeof "/programs");
    int error = base_make_folders(path);
    if (error == 0 && lstat(path, &about) != 0)
        error = errno;
    if (error != 0)
        warn_once(d, SPRY_LOG_INFO, path, base_error_text(error, reason, sizeof reason));
    else if (!S_ISDIR(about.st_mode) || !is_private(&about))
        warn_once(
            d, SPRY_LOG_WARNING, path,
            "not a folder of this user's own, or others may write to it: code from there is not "
            "trusted");
    else
        return true;
    return false;
}

static void entry_path(char *folder, cache_key key)
{
    snprintf(folder + strlen(folder), KEY_DIGITS + 8, "/%016" PRIx64 "%016" PRIx64 ".bin",
             key.part[0], key.part[1]);
}

/* --- reading -------------------------------------------------------------------------------------
 */

static bool same_key(cache_key a, cache_key b)
{
    return a.part[0] == b.part[0] && a.part[1] == b.part[1];
}

/* Whether all of a file is the program of a key, and its checksum right. */
static bool is_whole(const char *all, int64_t size, cache_key key)
{
    entry_header header;
    memcpy(&header, all, sizeof header);
    return memcmp(header.magic, magic, sizeof magic) == 0 && header.version == FORMAT_VERSION &&
           header.header_bytes == sizeof header && same_key(header.key, key) &&
           header.bytes == (uint64_t)size - sizeof header &&
           same_key(header.check, cache_hash_of(all + sizeof header, (size_t)header.bytes));
}

int cache_open(spry_device *d, const char *path, int64_t least, int64_t most, int64_t *size)
{
    char reason[128];
    struct stat about;
    const int file = base_file_open(path, most, size);
    if (file == -1 - ENOENT)
        return -1;
    if (file < 0) {
        base_log(d->ctx, SPRY_LOG_INFO, "%s: %s; ignored", path,
                 base_error_text(-1 - file, reason, sizeof reason));
        return -1;
    }
    if (*size >= least && fstat(file, &about) == 0 && is_private(&about)) {
        futimens(file, NULL); /* the time of its last use, for cache_trim() */
        return file;
    }
    close(file);
    base_log(d->ctx, SPRY_LOG_INFO, "%s: cut short, or others may write to it; ignored", path);
    return -1;
}

spry_status cache_read(spry_device *d, cache_key key, void **binary, size_t *size)
{
    char path[CACHE_PATH], *all = NULL;
    int64_t bytes = 0;
    *binary = NULL;
    if (!cache_folder(d, path, sizeof path))
        return SPRY_STATUS_OK;
    entry_path(path, key);
    const int64_t least = sizeof(entry_header);
    const int file = cache_open(d, path, least, least + MOST_PROGRAM, &bytes);
    if (file < 0)
        return SPRY_STATUS_OK;
    const spry_status status = base_alloc(d->ctx, bytes, 1, &all);
    if (status != SPRY_STATUS_OK) {
        close(file);
        return status;
    }
    if (base_file_fill(file, all, bytes) == bytes && is_whole(all, bytes, key)) {
        *size = (size_t)bytes - sizeof(entry_header);
        memmove(all, all + sizeof(entry_header), *size);
        *binary = all;
    } else {
        base_log(d->ctx, SPRY_LOG_INFO, "%s: damaged, or of another version; ignored", path);
        base_free(d->ctx, all);
    }
    return SPRY_STATUS_OK;
}

bool cache_has(spry_device *d, cache_key key)
{
    char path[CACHE_PATH];
    if (!cache_folder(d, path, sizeof path))
        return false;
    entry_path(path, key);
    return access(path, R_OK) == 0;
}

/* --- writing -------------------------------------------------------------------------------------
 */

spry_status cache_write(spry_device *d, cache_key key, const void *binary, size_t size)
{
    spry_status status = SPRY_STATUS_OK;
    char path[CACHE_PATH], reason[128], *all = NULL;
    int64_t removed;
    entry_header header = {.version = FORMAT_VERSION,
                           .header_bytes = sizeof header,
                           .key = key,
                           .bytes = size,
                           .check = cache_hash_of(binary, size)};
    memcpy(header.magic, magic, sizeof magic);
    if (size > MOST_PROGRAM || !cache_folder(d, path, sizeof path))
        return SPRY_STATUS_OK;
    const size_t folder_length = strlen(path);
    entry_path(path, key);
    SPRY_GO(d->ctx, base_alloc(d->ctx, (int64_t)(sizeof header + size), 1, &all));
    memcpy(all, &header, sizeof header);
    memcpy(all + sizeof header, binary, size);
    const int error = base_file_replace(path, all, sizeof header + size);
    if (error != 0)
        warn_once(d, SPRY_LOG_INFO, path, base_error_text(error, reason, sizeof reason));
    path[folder_length] = '\0';
    SPRY_GO(d->ctx, cache_trim(d->ctx, path, CACHE_MOST_BYTES, &removed));
done:
    base_free(d->ctx, all);
    return status;
}

typedef struct old_entry {
    char name[64];
    int64_t bytes;
    struct timespec used;
} old_entry;

static int by_use(const void *left, const void *right)
{
    const old_entry *a = left, *b = right;
    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return (a->used.tv_nsec > b->used.tv_nsec) - (a->used.tv_nsec < b->used.tv_nsec);
}

/* Notes an entry that is named as ours are, those left half-written included. */
static bool note_entry(int folder, const char *name, old_entry *entry)
{
    struct stat about;
    const size_t length = strlen(name);
    if (strspn(name, "0123456789abcdef") != KEY_DIGITS || length >= sizeof entry->name ||
        strncmp(name + KEY_DIGITS, ".bin", 4) != 0 ||
        fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode))
        return false;
    memcpy(entry->name, name, length + 1);
    entry->bytes = about.st_size;
    entry->used = about.st_mtim;
    return true;
}

spry_status cache_trim(spry_context *ctx, const char *folder, int64_t most_bytes, int64_t *removed)
{
    spry_status status = SPRY_STATUS_OK;
    int64_t count = 0, room = 0, bytes = 0;
    old_entry *entries = NULL;
    DIR *all = opendir(folder);
    *removed = 0;
    if (!all)
        return SPRY_STATUS_OK;
    for (const struct dirent *entry; (entry = readdir(all));) {
        if (count == room) {
            room = room * 2 + 64;
            SPRY_GO(ctx, base_grow(ctx, count, room, sizeof *entries, &entries));
        }
        if (note_entry(dirfd(all), entry->d_name, &entries[count]))
            bytes += entries[count++].bytes;
    }
    if (bytes > most_bytes)
        qsort(entries, (size_t)count, sizeof *entries, by_use);
    for (int64_t i = 0; i < count && bytes > most_bytes; i++) {
        bytes -= entries[i].bytes;
        *removed += unlinkat(dirfd(all), entries[i].name, 0) == 0;
    }
done:
    closedir(all);
    base_free(ctx, entries);
    return status;
}
