#include <threads.h>
static mtx_t guard;
static cnd_t filled;
static once_flag once = ONCE_FLAG_INIT;
static int items, table, taken;
static void fill(void) { table = 5; }
static int take(void *argument) {
    call_once(&once, fill);
    for (int i = 0; i < 20; i++) {
        mtx_lock(&guard);
        while (items == 0) cnd_wait(&filled, &guard);
        items--;
        taken += table;
        mtx_unlock(&guard);
    }
    return *(int *)argument;
}
int main(void) {
    mtx_init(&guard, mtx_plain);
    cnd_init(&filled);
    thrd_t takers[2];
    int codes[2] = {3, 4}, results[2];
    for (int i = 0; i < 2; i++) if (thrd_create(&takers[i], take, &codes[i]) != thrd_success) return 2;
    for (int i = 0; i < 40; i++) {
        if (i % 2) mtx_lock(&guard);
        else while (mtx_trylock(&guard) != thrd_success) thrd_yield();
        items++;
        cnd_signal(&filled);
        mtx_unlock(&guard);
    }
    for (int i = 0; i < 2; i++) thrd_join(takers[i], &results[i]);
    return !(taken == 200 && results[0] == 3 && results[1] == 4);
}
