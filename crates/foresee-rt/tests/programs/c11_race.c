#include <threads.h>
static int counter;
static int count(void *unused) {
    (void)unused;
    counter++;
    return 0;
}
int main(void) {
    thrd_t a, b;
    thrd_create(&a, count, 0);
    thrd_create(&b, count, 0);
    thrd_join(a, 0);
    thrd_join(b, 0);
    return 0;
}
