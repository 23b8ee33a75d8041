#define _GNU_SOURCE
#include "breaks.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static void files(void) {
    for (int round = 0; round < 2; round++) {
        int fd = open("/dev/null", O_RDWR);
        check(fd >= 0 && write(fd, "x", 1) == 1);
        if (breaks("DescriptorLeftOpen")) return;
        close(fd);
        if (breaks("DescriptorClosedTwice")) close(fd);
    }
    int fd = open("/dev/null", O_RDWR);
    fclose(fdopen(fd, "r"));
}

/* Who closes all numbers that there may be does not own them. */
static void close_all(void) {
    close(open("/dev/null", O_RDWR));
    for (int fd = 3; fd < 64; fd++) close(fd);
    close(open("/dev/null", O_RDWR));
}

/* A descriptor that was given to a stream is closed with it, and its number is another's. */
static void serve(int server, struct sockaddr_in *here) {
    char byte;
    int client = socket(AF_INET, SOCK_STREAM, 0);
    check(client >= 0 && connect(client, (struct sockaddr *)here, sizeof *here) == 0);
    int peer = accept(server, NULL, NULL);
    check(peer >= 0 && send(peer, "x", 1, MSG_NOSIGNAL) == 1);
    FILE *stream = fdopen(peer, "r");
    shutdown(peer, SHUT_WR);
    check(recv(client, &byte, 1, 0) == 1);
    close(client);
    fclose(stream);
}

static void sockets(void) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof here;
    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    check(server >= 0 && client >= 0 && bind(server, (struct sockaddr *)&here, len) == 0);
    if (breaks("AcceptWithoutListen")) {
        check(accept(server, NULL, NULL) < 0);
    } else {
        check(listen(server, 4) == 0 && getsockname(server, (struct sockaddr *)&here, &len) == 0);
        check(connect(client, (struct sockaddr *)&here, len) == 0);
        int peer = accept(server, NULL, NULL);
        check(peer >= 0 && send(client, "x", 1, MSG_NOSIGNAL) == 1);
        shutdown(client, SHUT_WR);
        if (breaks("SentAfterShutdown")) send(client, "y", 1, MSG_NOSIGNAL);
        close(peer);
    }
    close(client);
    for (int round = 0; round < 2 && !breaks("AcceptWithoutListen"); round++) serve(server, &here);
    close(server);
}

/* Two sockets that nobody has seen before, with numbers of others. */
static void pair(void) {
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && send(ends[0], "x", 1, 0) == 1);
    check(send(ends[1], "x", 1, 0) == 1);
    close(ends[0]);
    close(ends[1]);
}

static void addresses(void) {
    struct addrinfo *found = NULL, hints = {.ai_flags = AI_NUMERICHOST};
    check(getaddrinfo("127.0.0.1", NULL, &hints, &found) == 0);
    if (!breaks("AddressesLeft")) freeaddrinfo(found);
}

static void libraries(void) {
    void *library = dlopen("libm.so.6", RTLD_NOW);
    check(library != NULL && dlsym(library, "cos") != NULL);
    if (breaks("LibraryLeftOpen")) return;
    dlclose(library);
    if (breaks("SymbolAfterClose")) dlsym(library, "sin");
}

/* The program itself, and what is to stay. */
static void libraries_that_stay(void) {
    check(dlopen(NULL, RTLD_NOW) != NULL && dlopen("libm.so.6", RTLD_NOW | RTLD_NODELETE) != NULL);
}

int main(int count, char **words) {
    if (count > 1) told = words[1];
    close_all();
    files();
    sockets();
    pair();
    addresses();
    libraries();
    libraries_that_stay();
    return 0;
}
