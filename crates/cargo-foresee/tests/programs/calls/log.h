#include <stddef.h>
struct log;
struct log *log_open(int level);
long log_write(struct log *log, const char *text, size_t size);
void log_close(struct log *log);
void log_free(struct log *log);
