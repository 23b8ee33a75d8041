/* Schedules, reductions, firstprivate, lastprivate, ordered, collapse, copyprivate. */
#include <omp.h>
static int order[40], filled, data[100], seen[4];
static double grid[8][8];
typedef struct { double x, y, z; } Vector;
#pragma omp declare reduction(add : Vector : omp_out.x += omp_in.x, omp_out.y += omp_in.y, omp_out.z += omp_in.z)
int main(void) {
    long sum = 0, product = 0, last = 0, first = 7, bits = 0;
    double most = 0;
    Vector vector = {0, 0, 0};
    #pragma omp parallel for num_threads(4) reduction(+ : sum) lastprivate(last) firstprivate(first)
    for (int i = 0; i < 100; i++) {
        data[i] = i + first;
        sum += data[i];
        last = i;
    }
    #pragma omp parallel for num_threads(4) schedule(dynamic, 3) reduction(max : most) reduction(| : bits)
    for (int i = 0; i < 100; i++) {
        if (data[i] > most) most = data[i];
        bits |= data[i];
    }
    #pragma omp parallel num_threads(4)
    {
        #pragma omp for schedule(guided) reduction(+ : product)
        for (long i = 0; i < 50; i++) product += data[i] * data[99 - i];
        #pragma omp for schedule(runtime) reduction(add : vector)
        for (unsigned long i = 0; i < 50; i++) {
            vector.x += product > 0;
            vector.y += 1;
            vector.z += i;
        }
        #pragma omp for ordered schedule(dynamic)
        for (int i = 0; i < 40; i++) {
            int square = i * i;
            #pragma omp ordered
            order[filled++] = square;
        }
        #pragma omp for ordered
        for (int i = 0; i < 40; i++) {
            #pragma omp ordered
            filled += order[i] - i * i;
        }
        #pragma omp for collapse(2)
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) grid[i][j] = vector.y;
        double chosen;
        int numbers[3];
        #pragma omp single copyprivate(chosen, numbers)
        {
            chosen = grid[7][7];
            for (int i = 0; i < 3; i++) numbers[i] = filled + i;
        }
        numbers[0]++;
        seen[omp_get_thread_num()] = chosen + numbers[2];
        #pragma omp barrier
        #pragma omp single copyprivate(chosen)
        chosen = seen[0] + seen[3];
        seen[omp_get_thread_num()] += chosen;
    }
    return sum != 5650 || last != 99 || most != 106 || vector.z != 1225 || filled != 40 || seen[1] != 276 || bits != 127;
}
