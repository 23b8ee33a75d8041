/* Reductions that tasks take part in. */
#include <omp.h>
static int grouped, looped, all, shared_out;
int main(void) {
    for (int round = 0; round < 3; round++) {
        #pragma omp parallel num_threads(4)
        {
            #pragma omp single
            {
                #pragma omp taskgroup task_reduction(+ : grouped)
                for (int i = 0; i < 8; i++) {
                    #pragma omp task in_reduction(+ : grouped)
                    grouped += i;
                }
                #pragma omp taskloop reduction(+ : looped) grainsize(2)
                for (int i = 0; i < 8; i++) looped += i;
            }
        }
        #pragma omp parallel num_threads(4) reduction(task, + : all)
        {
            all++;
            #pragma omp task in_reduction(+ : all)
            all++;
        }
        #pragma omp parallel num_threads(4)
        {
            #pragma omp for reduction(task, + : shared_out)
            for (int i = 0; i < 8; i++) {
                #pragma omp task in_reduction(+ : shared_out)
                shared_out += i;
            }
        }
    }
    return grouped != 84 || looped != 84 || all != 24 || shared_out != 84;
}
