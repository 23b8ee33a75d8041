#include "breaks.h"
#include <zlib.h>

static void compress_once(z_stream *stream) {
    unsigned char in[16] = "text", out[64];
    stream->next_in = in, stream->avail_in = sizeof in;
    stream->next_out = out, stream->avail_out = sizeof out;
    deflate(stream, Z_FINISH);
}

int main(int count, char **words) {
    if (count > 1) told = words[1];
    z_stream out = {0}, in = {0};
    check(deflateInit(&out, 6) == Z_OK);
    if (breaks("CompressorMixedUp"))
        inflate(&out, Z_NO_FLUSH);
    else
        compress_once(&out);
    if (!breaks("DeflateLeftOpen")) deflateEnd(&out);
    if (breaks("DeflateUsedAfterEnd")) deflateReset(&out);

    check(inflateInit(&in) == Z_OK);
    inflate(&in, Z_NO_FLUSH);
    if (!breaks("InflateLeftOpen")) inflateEnd(&in);
    if (breaks("InflateUsedAfterEnd")) inflateReset(&in);

    /* Nothing may be ended and closed. */
    for (int round = 0; round < 2; round++) {
        deflateEnd(NULL);
        inflateEnd(NULL);
        deflateReset(NULL);
        inflateReset(NULL);
        gzclose(NULL);
    }

    gzFile file = gzopen("/dev/null", "wb");
    check(file != NULL && gzputs(file, "text") > 0);
    if (breaks("GzLeftOpen")) return 0;
    gzclose(file);
    if (breaks("GzUsedAfterClose")) gzflush(file, Z_SYNC_FLUSH);
    return 0;
}
