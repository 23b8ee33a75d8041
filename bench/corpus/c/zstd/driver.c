// Compresses with four workers, twice with the same context, and decompresses by two threads at once, each with its own context.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "zstd.h"
enum { LENGTH = 3 << 20 };
static char *text, *packed;
static size_t packed_length;
static void *unpack(void *unused) {
    char *back = malloc(LENGTH);
    size_t length = ZSTD_decompress(back, LENGTH, packed, packed_length);
    if (length != LENGTH || memcmp(back, text, LENGTH)) abort();
    free(back);
    return unused;
}
int main(void) {
    text = malloc(LENGTH);
    for (size_t i = 0; i < LENGTH; i++) text[i] = "to be or not to be, that is"[(i * i + i / 7) % 27];
    size_t room = ZSTD_compressBound(LENGTH);
    packed = malloc(room);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    if (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, 4))) return 2;
    ZSTD_CCtx_setParameter(context, ZSTD_c_jobSize, 512 << 10);
    for (int round = 0; round < 2; round++) {
        packed_length = ZSTD_compress2(context, packed, room, text, LENGTH);
        if (ZSTD_isError(packed_length)) return 3;
    }
    ZSTD_freeCCtx(context);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, unpack, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    puts("done");
    free(packed);
    free(text);
}
