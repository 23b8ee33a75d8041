// A function of the C library is called for the first time where the loader's locks are taken: by this thread and by another one, which
// waits for it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>
static atomic_int walking;
static void *load(void *unused) {
    while (!atomic_load(&walking)) usleep(100);
    return dlopen("libresolv.so.2", RTLD_NOW) ? unused : (void *)1;
}
static int look(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)info, (void)size, (void)unused;
    if (atomic_exchange(&walking, 1)) return 0;
    struct timespec while_it_loads = {0, 100000000};
    nanosleep(&while_it_loads, 0);
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_spinlock_t spin;
    pthread_spin_init(&spin, 0);
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    return pthread_rwlock_trywrlock(&lock) || pthread_rwlock_unlock(&lock);
}
int main(void) {
    pthread_t thread;
    void *failed;
    pthread_create(&thread, 0, load, 0);
    if (dl_iterate_phdr(look, 0)) return 1;
    pthread_join(thread, &failed);
    return failed != 0;
}
