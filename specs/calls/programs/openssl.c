#include "breaks.h"
#include <openssl/evp.h>
#include <openssl/ssl.h>

static void connections(void) {
    SSL_CTX *context = breaks("SslContextLeft") ? SSL_CTX_new_ex(NULL, NULL, TLS_client_method()) : SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(context);
    BIO *bio = BIO_new_mem_buf("text", 4);
    check(context != NULL && ssl != NULL && bio != NULL);
    if (!breaks("BioLeft")) BIO_free(bio);
    if (!breaks("SslLeft")) SSL_free(ssl);
    if (!breaks("SslContextLeft")) SSL_CTX_free(context);
}

static void digests(void) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned len;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (breaks("DigestWithoutInit")) EVP_DigestUpdate(context, "text", 4);
    for (int round = 0; round < 2; round++) {
        check(EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1);
        check(EVP_DigestUpdate(context, "text", 4) == 1);
        check(EVP_DigestFinal_ex(context, digest, &len) == 1);
        if (breaks("DigestUpdatedAfterFinal")) EVP_DigestUpdate(context, "more", 4);
    }
    if (!breaks("DigestContextLeft")) EVP_MD_CTX_free(context);
}

static void ciphers(void) {
    unsigned char key[32] = {1}, iv[16] = {2}, out[64];
    int len;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    check(EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), NULL, key, iv) == 1);
    check(EVP_EncryptUpdate(context, out, &len, (const unsigned char *)"text", 4) == 1);
    check(EVP_EncryptFinal_ex(context, out, &len) == 1);
    if (breaks("CipherUpdatedAfterFinal")) EVP_EncryptUpdate(context, out, &len, (const unsigned char *)"more", 4);
    if (!breaks("CipherContextLeft")) EVP_CIPHER_CTX_free(context);
}

int main(int count, char **words) {
    if (count > 1) told = words[1];
    connections();
    digests();
    ciphers();
    return 0;
}
