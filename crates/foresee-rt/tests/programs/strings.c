// Each thread has a text that another one looks at by a function of the C library, without order.
#include <pthread.h>
#include <string.h>
#include <stdlib.h>
static char texts[8][16] = {"text 0", "text 1", "text 2", "text 3", "text 4", "text 5", "text 6", "text 7"};
static volatile size_t none = 1, sum;
static void *looks(void *unused) {
    char to[64];
    size_t found = strlen(texts[0]);
    found += strcmp(texts[1], &"text 1"[none - 1]) == 0;
    strcpy(to, texts[2]);
    strcat(to, texts[3]);
    found += strchr(texts[4], '4') != 0;
    found += memcmp(texts[5], "text 5", 6 * none) == 0;
    found += strstr(texts[6], "xt 6") != 0;
    char *copy = strdup(texts[7]);
    found += copy[5];
    free(copy);
    sum = found + to[none];
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, looks, 0);
    for (size_t i = 0; i < 8; i++) ((volatile char *)texts[i])[5 * none] = 'x';
    pthread_join(thread, 0);
    return 0;
}
