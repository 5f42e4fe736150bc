/* Texts of the command line for people: what a thread was given stays while others ask for theirs.
 */
#include "output.h"
#include "support/support.h"

#include <pthread.h>
#include <string.h>

enum { ASKED = 64 };

/* Asks for more names than there is room for at a time. */
static void *ask(void *data)
{
    (void)data;
    for (int k = 0; k < ASKED; k++)
        (void)text_name("the other thread's name");
    return NULL;
}

static void names_are_of_a_thread(void **state)
{
    (void)state;
    pthread_t other;
    const char *first = text_name("A\x1b[1m.mtx"), *second = text_name("b.mtx");
    assert_int_equal(pthread_create(&other, NULL, ask, NULL), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_string_equal(first, "A\\x1b[1m.mtx");
    assert_string_equal(second, "b.mtx");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_of_a_thread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
