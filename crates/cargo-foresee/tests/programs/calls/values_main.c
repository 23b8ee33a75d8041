// Calls what is in values.c, and says with what, and what comes back.
#include <stdio.h>
#include <stdlib.h>
#include "values.h"

static void rounds(int n) {
    printf("call narrow %d %d %d %d\n", n % 2, -n, 65535 - n, -5 * n);
    printf("back narrow %d\n", narrow(n % 2, (signed char)-n, (unsigned short)(65535 - n), -5 * n));
    printf("call wide %ld %ld %u\n", -7000000000L - n, 5L + n, 4294967295u - n);
    printf("back wide %ld\n", wide(-7000000000L - n, 5UL + n, 4294967295u - n));
    int number, *place = &number;
    printf("call pointers \"text\" @%lu @%lu\n", (unsigned long)&number, (unsigned long)&place);
    printf("back pointers @%lu\n", (unsigned long)pointers("text", &number, &place));
    printf("call many %d %d %d %d %d %d %d %ld\n", n, n + 1, n + 2, n + 3, n + 4, n + 5, -n, -9000000000L);
    printf("back many %d\n", many(n, n + 1, n + 2, n + 3, n + 4, n + 5, -n, -9000000000L));
    printf("call enumerated %d %d\n", n % 2 ? -1 : 7, 40 + n);
    printf("back enumerated %d\n", enumerated(n % 2 ? LOW : HIGH, (struct wrapped){40 + n}));
    for (int which = n; which < 300; which += 150) {
        printf("call several %d\n", which);
        printf("back several %d\n", several(which));
    }
    printf("call leaf %d\n", 100 + n);
    printf("back leaf %d\n", leaf(100 + n));
    printf("call truth %d\n", 1 - n);
    printf("back truth %d\n", truth(1 - n));
    printf("call mixed %d\n", 3 * n);
    mixed(1.5, 3 * n, 2.5f);
    for (int which = 0; which < 7; which++) {
        printf("call chosen %d %d\n", which, n);
        printf("back chosen %d\n", chosen(which, n));
    }
}

int main(int argc, char **argv) {
    (void)argv;
    setvbuf(stdout, 0, _IONBF, 0);
    for (int n = argc; n < 4; n++) rounds(n);
    return 0;
}
