/* Tasks: their parents, groups, dependences, loops. */
#include <omp.h>
static int fib(int n) {
    if (n < 2) return n;
    int a, b;
    #pragma omp task shared(a)
    a = fib(n - 1);
    #pragma omp task shared(b)
    b = fib(n - 2);
    #pragma omp taskwait
    return a + b;
}
static int result, waited, grouped[8], chain, copies[3], iterations[64], big[4], after, filled;
int main(void) {
    #pragma omp parallel num_threads(4)
    {
        #pragma omp single
        result = fib(8);
        #pragma omp single
        {
            #pragma omp task
            waited = 1;
            #pragma omp taskwait
            waited++;
        }
        #pragma omp single
        {
            #pragma omp taskgroup
            for (int i = 0; i < 4; i++) {
                #pragma omp task firstprivate(i)
                {
                    grouped[i] = i;
                    #pragma omp task firstprivate(i)
                    grouped[i + 4] = i;
                }
            }
            for (int i = 0; i < 4; i++) grouped[i] += grouped[i + 4];
        }
        #pragma omp single
        for (int i = 0; i < 10; i++) {
            #pragma omp task depend(inout : chain)
            chain++;
            #pragma omp task depend(in : chain)
            if (chain == 10) filled = i;
            #pragma omp task depend(in : chain) depend(inout : copies[1])
            copies[1] += chain;
        }
        #pragma omp single
        {
            #pragma omp taskloop grainsize(4)
            for (int i = 0; i < 64; i++) iterations[i] = i;
            for (int i = 0; i < 64; i++) after += iterations[i];
        }
        #pragma omp single
        {
            struct { int numbers[100]; } block;
            for (int i = 0; i < 100; i++) block.numbers[i] = i;
            for (int t = 0; t < 4; t++) {
                #pragma omp task firstprivate(block, t) untied
                {
                    block.numbers[t]++;
                    for (int i = 0; i < 100; i++) big[t] += block.numbers[i];
                }
            }
            #pragma omp task if (0) shared(block)
            block.numbers[0] = 5;
            #pragma omp task final(1) shared(block)
            block.numbers[1] = block.numbers[0];
            #pragma omp taskwait
            copies[2] = block.numbers[1];
        }
        #pragma omp for
        for (int i = 0; i < 8; i++) {
            #pragma omp task firstprivate(i)
            grouped[i]++;
        }
        #pragma omp single
        for (int i = 0; i < 8; i++) result += grouped[i];
    }
    return result != 21 + 26 || chain != 10 || copies[1] != 55 || after != 2016 || big[2] != 4951 || copies[2] != 5;
}
