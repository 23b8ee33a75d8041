/* The flight controller of flight.rs, in C: foresee cc -o flight flight.c -lpthread && foresee run -- ./flight */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int landing, approved, radio = 1;

static void ask_landing_approval(void) { approved = radio != 0; }

static void *pilot(void *unused) {
    ask_landing_approval();
    if (approved) {
        puts("landing approved");
        landing = 1;
        puts("landing started");
    } else {
        puts("landing not approved");
    }
    return unused;
}

static void *watch_radio(void *unused) {
    while (radio) {
        usleep(100000);
        radio = 0; /* the radio goes down some time after the landing */
    }
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, pilot, NULL);
    pthread_create(&second, NULL, watch_radio, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
