// Other processes, and queues of System V that are full or removed, hand over from thread to thread.
#include "programs.h"

#include <errno.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/wait.h>

static int ends[2];
static sigset_t awaited;

static void block(int signal) {
    sigemptyset(&awaited);
    sigaddset(&awaited, signal);
    CHECK(pthread_sigmask(SIG_BLOCK, &awaited, 0) == 0 && pipe(ends) == 0);
}

static void *after_signal(void *unused) {
    int signal;
    CHECK(sigwait(&awaited, &signal) == 0);
    seen = data;
    data = 2;
    return unused;
}

// A child that is told through a pipe sends a signal, or ends.
static pid_t make_child(int sends) {
    pid_t child = fork();
    if (child == 0) {
        char byte;
        if (read(ends[0], &byte, 1) == 1 && sends) kill(getppid(), SIGUSR1);
        _exit(0);
    }
    return child;
}

static void by_child(int signal, int is_wrong) {
    block(signal);
    pid_t child = make_child(signal == SIGUSR1);
    pthread_t waiting = start(after_signal, 0);
    if (!is_wrong) data = 1;
    CHECK(write(ends[1], "", 1) == 1);
    if (is_wrong) data = 1;
    finish(waiting);
    waitpid(child, 0, 0);
    CHECK(is_wrong || seen == 1);
}

static void child_signals(void) { by_child(SIGUSR1, 0); }
static void child_ends(void) { by_child(SIGCHLD, 0); }
static void wrong_signal(void) { by_child(SIGUSR1, 1); }

static void by_shell(void) {
    block(SIGINT);
    pthread_t waiting = start(after_signal, 0);
    char command[40];
    data = 1;
    sprintf(command, "kill -INT %d", getpid());
    CHECK(system(command) == 0);
    finish(waiting);
    CHECK(seen == 1);
}

struct Shared {
    pthread_mutex_t mutexes[2];
    pthread_cond_t conditions[2];
    int are_set[2];
};
static struct Shared *shared;

static void set(int which) {
    pthread_mutex_lock(&shared->mutexes[which]);
    shared->are_set[which] = 1;
    pthread_cond_signal(&shared->conditions[which]);
    pthread_mutex_unlock(&shared->mutexes[which]);
}

static void await(int which) {
    pthread_mutex_lock(&shared->mutexes[which]);
    while (!shared->are_set[which]) pthread_cond_wait(&shared->conditions[which], &shared->mutexes[which]);
    pthread_mutex_unlock(&shared->mutexes[which]);
}

static void *after_child(void *unused) {
    await(1);
    seen = data;
    data = 2;
    return unused;
}

static void shared_conditions(void) {
    pthread_mutexattr_t of_mutex;
    pthread_condattr_t of_condition;
    shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    pthread_mutexattr_init(&of_mutex);
    pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
    pthread_condattr_init(&of_condition);
    pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_init(&shared->mutexes[i], &of_mutex);
        pthread_cond_init(&shared->conditions[i], &of_condition);
    }
    pid_t child = fork();
    if (child == 0) {
        await(0);
        set(1);
        _exit(0);
    }
    pthread_t waiting = start(after_child, 0);
    data = 1;
    set(0);
    finish(waiting);
    waitpid(child, 0, 0);
    CHECK(seen == 1);
}

static struct {
    long kind;
    char text[8000];
} message = {.kind = 1}, received;
static int messages;

static void *receive_two(void *unused) {
    usleep(WHILE_OTHERS_RUN);
    data = 1;
    CHECK(msgrcv(messages, &received, sizeof received.text, 0, 0) >= 0);
    CHECK(msgrcv(messages, &received, sizeof received.text, 0, 0) >= 0);
    return unused;
}

static void full_of_messages(void) {
    messages = msgget(IPC_PRIVATE, 0600);
    CHECK(messages >= 0);
    while (msgsnd(messages, &message, sizeof message.text, IPC_NOWAIT) == 0);
    pthread_t receiving = start(receive_two, 0);
    CHECK(msgsnd(messages, &message, sizeof message.text, 0) == 0);
    CHECK(data == 1);
    finish(receiving);
    msgctl(messages, IPC_RMID, 0);
}

static void *until_removed(void *unused) {
    CHECK(msgrcv(messages, &received, sizeof received.text, 0, 0) < 0 && errno == EIDRM);
    CHECK(data == 1);
    return unused;
}

static void removed_messages(void) {
    messages = msgget(IPC_PRIVATE, 0600);
    CHECK(messages >= 0);
    pthread_t receiving = start(until_removed, 0);
    usleep(WHILE_OTHERS_RUN);
    data = 1;
    CHECK(msgctl(messages, IPC_RMID, 0) == 0);
    finish(receiving);
}

int main(int count, char **words) {
    static const struct Program programs[] = {
        {"child_signals", child_signals},
        {"child_ends", child_ends},
        {"by_shell", by_shell},
        {"shared_conditions", shared_conditions},
        {"full_of_messages", full_of_messages},
        {"removed_messages", removed_messages},
        {"wrong_signal", wrong_signal},
        {0, 0},
    };
    return run(count, words, programs);
}
