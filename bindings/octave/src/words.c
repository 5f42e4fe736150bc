/* Rows and columns in the library's messages, as Octave and MATLAB count them. */
#include "gate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = " (from 0)";

static bool listed(const char *word, size_t length)
{
    static const char *const words[] = {"row", "rows", "column", "columns", "and", "more"};
    if (strspn(word, "0123456789.") >= length)
        return true;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strlen(words[k]) == length && strncmp(words[k], word, length) == 0)
            return true;
    return false;
}

/* Where "rows 4, 7 and 2 more" begins that ends at `end`. */
static const char *list_before(const char *text, const char *end)
{
    const char *start = end;
    for (const char *p = end; p > text;) {
        while (p > text && (p[-1] == ' ' || p[-1] == ','))
            p--;
        const char *word = p;
        while (word > text && (isalnum((unsigned char)word[-1]) || word[-1] == '.'))
            word--;
        if (word == p || !listed(word, (size_t)(p - word)))
            break;
        start = p = word;
    }
    return start;
}

/* Copies a list, each number one more; how many are left out is no number of a row. */
static char *copy_list(char *to, const char *from, const char *end)
{
    while (from < end) {
        if (!isdigit((unsigned char)*from)) {
            *to++ = *from++;
            continue;
        }
        char *rest;
        const long long number = strtoll(from, &rest, 10);
        to += sprintf(to, "%lld", number + (strncmp(rest, " more", 5) != 0));
        from = rest;
    }
    return to;
}

char *gate_words(const char *text)
{
    char *words = mxMalloc(2 * strlen(text) + 1), *to = words;
    for (const char *at; (at = strstr(text, mark)) != NULL; text = at + strlen(mark)) {
        const char *start = list_before(text, at);
        memcpy(to, text, (size_t)(start - text));
        to = copy_list(to + (start - text), start, at);
    }
    strcpy(to, text);
    return words;
}
