/* Included before every file that has tests: its main() becomes an entry of the room's program. */
#ifdef TEST_ENTRY
#define main TEST_ENTRY
int main(void);
#endif
