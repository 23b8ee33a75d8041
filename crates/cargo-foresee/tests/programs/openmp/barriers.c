/* Barriers: explicit ones, and those at the end of worksharing constructs. */
#include <omp.h>
static int cells[4], sums[4], squares[64], total[4], parts[2], last;
int main(void) {
    #pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
        for (int round = 0; round < 5; round++) {
            cells[me] = round;
            #pragma omp barrier
            for (int i = 0; i < 4; i++) sums[me] += cells[i];
            #pragma omp barrier
        }
        #pragma omp for schedule(static, 4)
        for (int i = 0; i < 64; i++) squares[i] = i * i;
        for (int i = 0; i < 64; i++) total[me] += squares[i];
        #pragma omp barrier
        #pragma omp sections
        {
            #pragma omp section
            parts[0] = total[0];
            #pragma omp section
            parts[1] = total[3];
        }
        #pragma omp single
        last = parts[0] + parts[1];
        #pragma omp master
        last++;
    }
    return sums[3] != 40 || last != 2 * 85344 + 1;
}
