// Code that is built without foresee.
#include <pthread.h>

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int guarded;

// Writes and reads memory of the caller's.
extern "C" void outside_write(int *at) { *at = 1; }
extern "C" int outside_read(const int *at) { return *at; }
// Works on its own data, under a lock of its own that the recorder sees.
extern "C" void outside_put() {
    pthread_mutex_lock(&guard);
    guarded = 1;
    pthread_mutex_unlock(&guard);
}
extern "C" int outside_get() {
    pthread_mutex_lock(&guard);
    int found = guarded;
    pthread_mutex_unlock(&guard);
    return found;
}
// Orders its callers by an atomic that nobody sees.
static int flag;
extern "C" void outside_signal() { __atomic_store_n(&flag, 1, __ATOMIC_RELEASE); }
extern "C" int outside_signalled() { return __atomic_load_n(&flag, __ATOMIC_ACQUIRE); }
// Waits for an atomic of the caller's.
extern "C" void outside_wait(int *flag) { while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) { } }
// Counts who shares it, and is freed by the last, whose call ends by a jump to the one that frees.
struct Shared {
    virtual void take() = 0;
    virtual void drop() = 0;
    virtual char *text() = 0;
};
struct Counted : Shared {
    int users = 1;
    char bytes[40] = "shared";
    void take() override { __atomic_add_fetch(&users, 1, __ATOMIC_RELAXED); }
    void drop() override { if (__atomic_sub_fetch(&users, 1, __ATOMIC_ACQ_REL) == 0) ::operator delete(this); }
    char *text() override { return bytes; }
};
extern "C" Shared *outside_shared() { return new Counted; }
