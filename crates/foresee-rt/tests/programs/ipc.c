// Data is handed over by whatever the kernel has besides descriptors: nothing else orders the threads.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static int data, set, queue, file;
static sem_t done;
static mqd_t messages;
static pthread_t receiver;
struct message { long kind; char text; };

static void check(int good) {
    if (!good) abort();
}

static void raise_semaphore(void) {
    struct sembuf up = {0, 1, 0};
    check(semop(set, &up, 1) == 0);
}
static void lower_semaphore(void) {
    struct sembuf down = {0, -1, 0};
    check(semop(set, &down, 1) == 0);
}
static void send_message(void) {
    struct message message = {1, 'x'};
    check(msgsnd(queue, &message, 1, 0) == 0);
}
static void receive_message(void) {
    struct message message;
    check(msgrcv(queue, &message, 1, 0, 0) == 1);
}
static void send_to_queue(void) { check(mq_send(messages, "x", 1, 0) == 0); }
static void receive_from_queue(void) {
    char text[16];
    check(mq_receive(messages, text, sizeof text, 0) == 1);
}
static void signal_process(void) { check(kill(getpid(), SIGUSR1) == 0); }
static void signal_thread(void) { check(pthread_kill(receiver, SIGUSR1) == 0); }
static void wait_for_signal(void) {
    sigset_t signals;
    int signal;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    check(sigwait(&signals, &signal) == 0);
}
static void wait_for_info(void) {
    sigset_t signals;
    siginfo_t info;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    check(sigwaitinfo(&signals, &info) == SIGUSR1);
}
static void read_signal(void) {
    struct signalfd_siginfo info;
    check(read(file, &info, sizeof info) == sizeof info);
}

static void (*give)(void);
static void *giver(void *unused) {
    data = 7;
    give();
    return unused;
}
static void hand_over(void (*giving)(void), void (*getting)(void)) {
    pthread_t thread;
    data = 0;
    give = giving;
    pthread_create(&thread, 0, giver, 0);
    getting();
    check(data == 7);
    data = 1;
    pthread_join(thread, 0);
}

static void *count_under_flock(void *unused) {
    int own = open("/proc/self/exe", O_RDONLY);
    for (int i = 0; i < 20; i++) {
        check(flock(own, LOCK_EX) == 0);
        data++;
        check(flock(own, LOCK_UN) == 0);
    }
    close(own);
    return unused;
}

static void on_timer(union sigval value) {
    check(data == 5);
    data = 7;
    sem_post(value.sival_ptr);
}

int main(void) {
    receiver = pthread_self();
    set = semget(IPC_PRIVATE, 1, 0600);
    hand_over(raise_semaphore, lower_semaphore);
    semctl(set, 0, IPC_RMID);
    queue = msgget(IPC_PRIVATE, 0600);
    hand_over(send_message, receive_message);
    msgctl(queue, IPC_RMID, 0);
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 16};
    messages = mq_open("/foresee-test", O_RDWR | O_CREAT, 0600, &attributes);
    if (messages != (mqd_t)-1) {
        mq_unlink("/foresee-test");
        hand_over(send_to_queue, receive_from_queue);
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, 0);
    hand_over(signal_process, wait_for_signal);
    hand_over(signal_thread, wait_for_info);
    file = signalfd(-1, &signals, 0);
    hand_over(signal_process, read_signal);

    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, count_under_flock, 0);
    struct timespec far;
    clock_gettime(CLOCK_MONOTONIC, &far);
    far.tv_sec += 100;
    for (int i = 0; i < 2; i++) check(pthread_clockjoin_np(threads[i], 0, CLOCK_MONOTONIC, &far) == 0);
    check(data == 41);

    sem_init(&done, 0, 0);
    data = 5;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer};
    event.sigev_value.sival_ptr = &done;
    timer_t timer;
    check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
    check(timer_settime(timer, 0, &soon, 0) == 0);
    sem_wait(&done);
    check(data == 7);
    return 0;
}
