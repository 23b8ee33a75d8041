/* One mistake each, chosen by a macro. */
#include <omp.h>
#include <unistd.h>
static int shared, other, third, met;
/* Waits until two tasks have come here, in two threads; not for ever. Nothing in it orders what they do. */
__attribute__((noinline)) static void meet(void) {
    #pragma omp atomic
    met++;
    for (int i = 0, now = 0; i < 1000 && now < 2; i++) {
        #pragma omp atomic read
        now = met;
        usleep(1000);
    }
}
static void region(void) {
    #pragma omp parallel num_threads(3)
    {
#if defined NO_CRITICAL
        shared++;
#elif defined TWO_NAMES
        if (omp_get_thread_num() == 0) {
            #pragma omp critical(one)
            shared++;
        } else if (omp_get_thread_num() == 1) {
            #pragma omp critical(two)
            shared++;
        }
#elif defined NO_BARRIER
        #pragma omp single nowait
        {
            usleep(20000);
            shared = 1;
        }
        #pragma omp atomic
        other += shared;
#elif defined NO_TASKWAIT
        #pragma omp single
        {
            #pragma omp task
            {
                meet();
                shared = 1;
            }
            meet();
            shared++;
        }
#elif defined NO_GROUP
        #pragma omp single
        {
            #pragma omp task
            {
                #pragma omp task
                {
                    meet();
                    shared = 1;
                }
            }
            #pragma omp taskwait
            meet();
            shared++;
        }
#elif defined NO_DEPENDENCE
        #pragma omp single
        {
            #pragma omp task depend(in : other)
            {
                meet();
                shared++;
            }
            #pragma omp task depend(in : other)
            {
                meet();
                shared++;
            }
        }
#elif defined NO_REDUCTION
        #pragma omp for
        for (int i = 0; i < 30; i++) shared += i;
#elif defined OTHER_SCHEDULE
        if (omp_get_thread_num() == 0) {
            shared = 1;
            #pragma omp critical
            other++;
        } else if (omp_get_thread_num() == 1) {
            usleep(50000);
            #pragma omp critical
            third++;
            shared = 2;
        }
#endif
    }
}
int main(void) {
    region();
    return shared + other + third < 0;
}
