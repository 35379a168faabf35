/* A shared library without any kernel. */
int answer(void);
int answer(void) { return 42; }
