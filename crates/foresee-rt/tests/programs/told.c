// The C library starts threads of its own to tell that something is done.
#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int data;
static sem_t done;

static void check(int good) {
    if (!good) abort();
}

static void told(union sigval unused) {
    (void)unused;
    check(data == 5);
    data = 7;
    sem_post(&done);
}

int main(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = told};
    sem_init(&done, 0, 0);

    char text[] = "text";
    struct aiocb writing = {.aio_fildes = fileno(tmpfile()), .aio_buf = text, .aio_nbytes = 4, .aio_sigevent = event};
    data = 5;
    check(aio_write(&writing) == 0);
    sem_wait(&done);
    check(data == 7);

    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 16};
    mqd_t messages = mq_open("/foresee-told", O_RDWR | O_CREAT, 0600, &attributes);
    if (messages != (mqd_t)-1) {
        mq_unlink("/foresee-told");
        data = 5;
        check(mq_notify(messages, &event) == 0);
        check(mq_send(messages, "x", 1, 0) == 0);
        sem_wait(&done);
        check(data == 7);
    }
    return 0;
}
