// Each log is opened, written to and closed; with LATE the last one is written to afterwards. Memory of logs is used again.
#include "log.h"
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&guard);
        struct log *log = log_open(i);
        log_write(log, "some text", 9);
        log_write(log, 0, 5000);
        log_close(log);
#ifdef LATE
        if (i == 19) log_write(log, "late", 4);
#endif
        log_free(log);
        pthread_mutex_unlock(&guard);
    }
    return arg;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return log_open(-1) != 0;
}
