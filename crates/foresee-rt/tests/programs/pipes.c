// Data is handed over through the kernel: nothing but the descriptors orders the threads.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static int ends[2], ready[2], closing[2], event, poller, listener, data[12];
static struct sockaddr_in where;

static void *other(void *unused) {
    char c = 'x';
    data[0] = 1;
    if (write(ends[1], &c, 1) != 1) return &data;
    data[1] = 1;
    if (send(ready[1], &c, 1, 0) != 1) return &data;
    data[2] = 1;
    uint64_t one = 1;
    if (write(event, &one, sizeof one) != sizeof one) return &data;
    data[3] = 1;
    struct epoll_event interest = {.events = EPOLLIN};
    epoll_ctl(poller, EPOLL_CTL_ADD, event, &interest);
    data[4] = 1;
    int client = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(client, (struct sockaddr *)&where, sizeof where)) return &data;
    data[5] = 1;
    struct iovec part = {&c, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (sendmsg(client, &message, 0) != 1) return &data;
    data[6] = 1;
    if (sendto(client, &c, 1, 0, NULL, 0) != 1) return &data;
    data[7] = 1;
    if (writev(ends[1], &part, 1) != 1) return &data;
    data[8] = 1;
    close(closing[1]);
    close(client);
    return unused;
}

int main(void) {
    socklen_t len = sizeof where;
    if (pipe(ends) || pipe(closing) || socketpair(AF_UNIX, SOCK_STREAM, 0, ready)) return 2;
    event = eventfd(0, 0);
    poller = epoll_create1(0);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&where, sizeof where) || listen(listener, 1)) return 3;
    getsockname(listener, (struct sockaddr *)&where, &len);
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    char c;
    if (read(ends[0], &c, 1) != 1) return 4;
    data[0]++;
    if (recv(fcntl(ready[0], F_DUPFD_CLOEXEC, 0), &c, 1, 0) != 1) return 5;
    data[1]++;
    uint64_t count;
    struct epoll_event happened;
    while (epoll_wait(poller, &happened, 1, 1) < 1) {}
    data[3]++;
    if (read(event, &count, sizeof count) != sizeof count) return 6;
    data[2]++;
    int server = accept(listener, NULL, NULL);
    data[4]++;
    struct iovec part = {&c, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (recvmsg(server, &message, 0) != 1) return 7;
    data[5]++;
    if (recvfrom(server, &c, 1, MSG_WAITALL, NULL, NULL) != 1) return 8;
    data[6]++;
    int again = dup(ends[0]);
    if (readv(again, &part, 1) != 1) return 9;
    data[7]++;
    if (read(closing[0], &c, 1) != 0) return 10;
    data[8]++;
    void *failed;
    pthread_join(thread, &failed);
    return failed != 0;
}
