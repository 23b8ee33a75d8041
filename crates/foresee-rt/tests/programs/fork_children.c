// The child is a run of its own: it holds the lock of the thread that forked it, and its own threads race.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int guarded, raced;
static void *work(void *unused) {
    pthread_mutex_lock(&held);
    guarded++;
    pthread_mutex_unlock(&held);
    raced++;
    return unused;
}
static void *busy(void *unused) {
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&held);
        guarded++;
        pthread_mutex_unlock(&held);
        __atomic_fetch_add(&raced, 1, __ATOMIC_RELAXED);
    }
    return unused;
}
int main(void) {
    pthread_t parents;
    pthread_create(&parents, 0, busy, 0);
    pthread_mutex_lock(&held);
    guarded = 1;
    pid_t child = fork();
    if (child == 0) {
        pthread_t a, b;
        pthread_create(&a, 0, work, 0);
        guarded = 2;
        pthread_mutex_unlock(&held);
        pthread_create(&b, 0, work, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
        _exit(0);
    }
    pthread_mutex_unlock(&held);
    int status;
    waitpid(child, &status, 0);
    pthread_join(parents, 0);
    return status;
}
