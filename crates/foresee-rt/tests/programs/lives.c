// Mutexes, condition variables and barriers that are made, used and destroyed in an order; and what libraries free themselves.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct job { pthread_mutex_t mutex; pthread_cond_t cond; pthread_rwlock_t lock; pthread_barrier_t both; int done; };
static void *works(void *at) {
    struct job *job = at;
    pthread_rwlock_rdlock(&job->lock);
    pthread_rwlock_unlock(&job->lock);
    pthread_barrier_wait(&job->both);
    pthread_mutex_lock(&job->mutex);
    job->done = 1;
    pthread_cond_signal(&job->cond);
    pthread_mutex_unlock(&job->mutex);
    return 0;
}
static void round_of(void) {
    struct job *job = malloc(sizeof *job);
    pthread_mutex_init(&job->mutex, 0);
    pthread_cond_init(&job->cond, 0);
    pthread_rwlock_init(&job->lock, 0);
    pthread_barrier_init(&job->both, 0, 2);
    job->done = 0;
    pthread_t thread;
    pthread_create(&thread, 0, works, job);
    pthread_detach(thread);
    pthread_barrier_wait(&job->both);
    pthread_mutex_lock(&job->mutex);
    while (!job->done) pthread_cond_wait(&job->cond, &job->mutex);
    pthread_mutex_unlock(&job->mutex);
    pthread_mutex_destroy(&job->mutex);
    pthread_cond_destroy(&job->cond);
    pthread_rwlock_destroy(&job->lock);
    pthread_barrier_destroy(&job->both);
    free(job);
}
static int name_of(struct dl_phdr_info *info, size_t size, void *sum) { *(int *)sum += info->dlpi_name[0]; return size == 0; }
static void *looks(void *unused) {
    int sum = 0;
    for (int i = 0; i < 50; i++) dl_iterate_phdr(name_of, &sum);
    return unused;
}
int main(void) {
    for (int i = 0; i < 20; i++) round_of();
    pthread_t thread;
    pthread_create(&thread, 0, looks, 0);
    for (int i = 0; i < 50; i++) {
        void *library = dlopen("libm.so.6", RTLD_NOW);
        if (library) dlclose(library);
    }
    pthread_join(thread, 0);
    return 0;
}
