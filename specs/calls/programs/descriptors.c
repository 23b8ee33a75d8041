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
    close(server);
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

int main(int count, char **words) {
    if (count > 1) told = words[1];
    files();
    sockets();
    addresses();
    libraries();
    return 0;
}
