#include "breaks.h"
#include <openssl/evp.h>
#include <openssl/pkcs7.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>

static void connections(void) {
    SSL_CTX *context = breaks("SslContextLeft") ? SSL_CTX_new_ex(NULL, NULL, TLS_client_method()) : SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(context);
    BIO *bio = BIO_new_mem_buf("text", 4);
    check(context != NULL && ssl != NULL && bio != NULL);
    if (!breaks("BioLeft")) BIO_free(bio);
    /* Given to others, which free them. */
    BIO *outer = BIO_new(BIO_f_ssl()), *server = BIO_new_accept("127.0.0.1:0"), *inner = BIO_new(BIO_f_buffer());
    BIO_set_ssl(outer, SSL_new(context), BIO_CLOSE);
    BIO_set_accept_bios(server, inner);
    PKCS7 *message = PKCS7_new();
    PKCS7_set_type(message, NID_pkcs7_digest);
    PKCS7_set_digest(message, EVP_sha256());
    PKCS7_content_new(message, NID_pkcs7_data);
    BIO_free_all(PKCS7_dataInit(message, BIO_new_mem_buf("text", 4)));
    PKCS7_free(message);
    BIO_free(outer);
    BIO_free(server);
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
    EVP_PKEY *pair = EVP_RSA_gen(2048);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    check(EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), NULL, key, iv) == 1);
    check(EVP_EncryptUpdate(context, out, &len, (const unsigned char *)"text", 4) == 1);
    check(EVP_EncryptFinal_ex(context, out, &len) == 1);
    if (breaks("CipherUpdatedAfterFinal")) EVP_EncryptUpdate(context, out, &len, (const unsigned char *)"more", 4);
    /* Begins anew. */
    unsigned char *secret = malloc(EVP_PKEY_get_size(pair));
    check(pair != NULL && EVP_SealInit(context, EVP_aes_256_cbc(), &secret, &len, iv, &pair, 1) == 1);
    check(EVP_SealUpdate(context, out, &len, (const unsigned char *)"text", 4) == 1);
    check(EVP_SealFinal(context, out, &len) == 1);
    free(secret);
    EVP_PKEY_free(pair);
    if (!breaks("CipherContextLeft")) EVP_CIPHER_CTX_free(context);
}

int main(int count, char **words) {
    if (count > 1) told = words[1];
    connections();
    digests();
    ciphers();
    return 0;
}
