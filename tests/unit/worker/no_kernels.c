/* A shared library that has nothing to do with rope. */
int answer(void);
int answer(void) { return 42; }
