/* Critical sections, locks, atomic updates. */
#include <omp.h>
static long counter, named, nested, tried, updated;
static struct { long a, b, c; } locked;
static long double wide;
int main(void) {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    #pragma omp parallel num_threads(4)
    for (int i = 0; i < 20; i++) {
        #pragma omp critical
        counter++;
        #pragma omp critical(name)
        {
            named++;
        }
        omp_set_lock(&lock);
        locked.a++;
        locked.c = locked.a + locked.b;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        nested++;
        omp_unset_nest_lock(&nest);
        nested++;
        omp_unset_nest_lock(&nest);
        if (omp_test_lock(&lock)) {
            locked.b++;
            omp_unset_lock(&lock);
        }
        if (omp_test_nest_lock(&nest)) {
            tried++;
            omp_unset_nest_lock(&nest);
        }
        #pragma omp atomic
        updated += i;
        #pragma omp atomic
        wide += 1;
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    return nested != 160 || locked.a != 80 || updated != 760 || wide != 80;
}
