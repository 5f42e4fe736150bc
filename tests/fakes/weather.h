/*
 * What a fake library is set to do, in a variable of the environment: words with numbers, "alloc=3
 * error=700", separated by blanks. A change of the variable starts all over.
 */
#ifndef SPRY_TESTS_WEATHER_H
#define SPRY_TESTS_WEATHER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct weather {
    const char *variable;
    void *counts; /* what is cleared when it changes */
    size_t size;
    char words[512];
} weather;

static const char *weather_words(weather *w)
{
    const char *now = getenv(w->variable);
    now = now ? now : "";
    if (strcmp(now, w->words) != 0) {
        memset(w->counts, 0, w->size);
        snprintf(w->words, sizeof w->words, "%s", now);
    }
    return w->words;
}

/* The number after a word, or `otherwise`. */
static int weather_value(weather *w, const char *word, int otherwise)
{
    const size_t length = strlen(word);
    for (const char *at = weather_words(w); at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
        if (strncmp(at, word, length) == 0 && at[length] == '=')
            return atoi(at + length + 1);
    return otherwise;
}

/* Whether it is the turn of this call, which `count` counts, to end with what this gives. */
static bool weather_turn(weather *w, const char *word, int *count)
{
    weather_words(w);
    return ++*count == weather_value(w, word, 0);
}

#endif
