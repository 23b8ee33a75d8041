/* What is before a region, in it and after it; regions that use the same threads again; nested ones; more arguments than registers. */
#include <omp.h>
static int cells[4], before, inner[2][2];
int main(void) {
    int ok = 1;
    for (int round = 0; round < 10; round++) {
        before = round;
        #pragma omp parallel num_threads(4)
        cells[omp_get_thread_num()] += before;
        for (int i = 0; i < 4; i++) ok &= cells[i] == round * (round + 1) / 2;
    }
    int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
    long sums[3];
    #pragma omp parallel num_threads(3) firstprivate(a, b) shared(c, d, e, f, g, h)
    {
        a += omp_get_thread_num();
        sums[omp_get_thread_num()] = a + b + c + d + e + f + g + h;
    }
    for (int i = 0; i < 3; i++) ok &= sums[i] == 36 + i;
    omp_set_max_active_levels(2);
    #pragma omp parallel num_threads(2)
    {
        int outer = omp_get_thread_num();
        #pragma omp parallel num_threads(2)
        {
            inner[outer][omp_get_thread_num()] = outer;
            #pragma omp barrier
        }
        #pragma omp parallel if (0)
        {
            #pragma omp barrier
            inner[outer][0]++;
            #pragma omp barrier
        }
        #pragma omp barrier
        #pragma omp single
        for (int i = 0; i < 2; i++) inner[i][1]++;
    }
    for (int i = 0; i < 2; i++) ok &= inner[i][0] == i + 1 && inner[i][1] == i + 1;
    return !ok;
}
