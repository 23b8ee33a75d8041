/* A library that nobody has instrumented: its functions have the names and declarations of others. */
#include <stdlib.h>

struct connection {
    int statements;
};

struct connection *gzopen(const char *path, const char *mode) {
    (void)path, (void)mode;
    return calloc(1, sizeof(struct connection));
}

int gzputs(struct connection *file, const char *text) { return text ? file->statements : -1; }

int gzclose(struct connection *file) {
    free(file);
    return -7;
}

int sqlite3_open(const char *name, struct connection **opened) {
    *opened = name ? calloc(1, sizeof **opened) : NULL;
    return name ? 0 : 14;
}

int sqlite3_close(struct connection *connection) {
    free(connection);
    return 0;
}

/* Calls back. */
int sqlite3_exec(struct connection *connection, const char *sql, int (*each)(void *, int, char **, char **), void *arg, char **error) {
    (void)sql, (void)error;
    connection->statements++;
    return each ? each(arg, 0, NULL, NULL) : 0;
}
