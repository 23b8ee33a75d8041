// Memory that functions change: the kernel takes it away, or a result is written through a pointer. In each program, a thread changes `state`
// or what `page` points to in a critical section, and another one, which comes later, looks at it in a critical section of its own and only
// then, if it has changed, writes `data`: no other schedule does that.
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what) ((what) ? (void)0 : (dprintf(2, "wrong: %s\n", #what), abort()))
#define PAGE 4096

int data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int *page;
static int exponent, quotient, sign, other;
static double whole, sine, cosine;
static float whole_float;
static long double whole_long;
static char *end;
static timer_t timer;
volatile double number = 10.25;
volatile long double long_number = 10.25L;
volatile float short_number = 10.25f;

static int *mapped(void) { return mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

static void advise(void) { CHECK(madvise(page, PAGE, MADV_DONTNEED) == 0); }

static void map_over(void) {
    CHECK(mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page);
}

static void lower_break(void) {
    CHECK(sbrk(-2 * PAGE) != (void *)-1);
    CHECK(sbrk(2 * PAGE) != (void *)-1);
}

// The C library takes memory for itself first: what it needs from now on is no reason for it to move the break.
static int *from_break(void) {
    void *volatile block = malloc(1);
    free(block);
    long at = (long)sbrk(2 * PAGE);
    return (int *)((at + PAGE - 1) & -PAGE);
}

static int is_empty(void) { return *page == 0; }

static void split(void) { CHECK(frexp(number, &exponent) == 0.640625); }
static int is_split(void) { return exponent == 4; }

static void split_long(void) { CHECK(frexpl(long_number, &exponent) == 0.640625L); }

static void cut(void) { CHECK(modf(number, &whole) == 0.25); }
static int is_cut(void) { return whole == 10; }

static void cut_float(void) { CHECK(modff(short_number, &whole_float) == 0.25f); }
static int is_float_cut(void) { return whole_float == 10; }

static void cut_long(void) { CHECK(modfl(long_number, &whole_long) == 0.25L); }
static int is_long_cut(void) { return whole_long == 10; }

static void turn(void) { sincos(number, &sine, &cosine); }
static int is_turned(void) { return sine * sine + cosine * cosine > 0.9; }

static void divide(void) { CHECK(remquo(number, 3, &quotient) == 1.25); }
static int is_divided(void) { return quotient == 3; }

static void gamma_of(void) { CHECK(lgamma_r(number, &sign) > 0); }
static int is_signed(void) { return sign == 1; }

static void read_long(void) { CHECK(strtold("10.25x", &end) == 10.25L); }
static int is_read(void) { return end && *end == 'x'; }

static void make_timer(void) {
    struct sigevent nobody = {.sigev_notify = SIGEV_NONE};
    CHECK(timer_create(CLOCK_MONOTONIC, &nobody, &timer) == 0);
    // The first timer may be number 0.
    CHECK(timer || timer_create(CLOCK_MONOTONIC, &nobody, &timer) == 0);
}
static int is_timer(void) { return timer != 0; }

// One that changes something else, and one that looks at what nobody changes: the sections can change places.
static void change_other(void) { CHECK(frexp(number, &other) == 0.640625); }
static int is_anything(void) { return number > 0; }

static const struct { const char *name; int *(*make)(void); void (*change)(void); int (*is_changed)(void); } programs[] = {
    {"madvise", mapped, advise, is_empty}, {"fixed", mapped, map_over, is_empty}, {"break", from_break, lower_break, is_empty},
    {"frexp", mapped, split, is_split}, {"frexpl", mapped, split_long, is_split}, {"modf", mapped, cut, is_cut},
    {"modff", mapped, cut_float, is_float_cut}, {"modfl", mapped, cut_long, is_long_cut}, {"sincos", mapped, turn, is_turned},
    {"remquo", mapped, divide, is_divided}, {"lgamma_r", mapped, gamma_of, is_signed}, {"strtold", mapped, read_long, is_read},
    {"timer_create", mapped, make_timer, is_timer}, {"wrong", mapped, change_other, is_anything},
}, *program;

static void *work(void *unused) {
    data = 1;
    pthread_mutex_lock(&mutex);
    program->change();
    pthread_mutex_unlock(&mutex);
    return unused;
}

// Two threads without any order: the kernel takes away what the other one reads.
static void *take_away(void *unused) {
    advise();
    return unused;
}

static int unlocked(void) {
    pthread_t thread;
    page = mapped();
    pthread_create(&thread, 0, take_away, 0);
    data = *page;
    pthread_join(thread, 0);
    return 0;
}

int main(int count, char **words) {
    if (count == 2 && strcmp(words[1], "unlocked") == 0) return unlocked();
    for (size_t i = 0; count == 2 && i < sizeof programs / sizeof *programs; i++) {
        if (strcmp(words[1], programs[i].name) == 0) program = &programs[i];
    }
    if (!program) return 2;
    pthread_t thread;
    page = program->make();
    *page = 7;
    pthread_create(&thread, 0, work, 0);
    usleep(50000);
    pthread_mutex_lock(&mutex);
    int changed = program->is_changed();
    pthread_mutex_unlock(&mutex);
    if (changed) data = 2;
    pthread_join(thread, 0);
    return changed ? 0 : 3;
}
