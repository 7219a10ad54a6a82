// What Crypto uses of OpenSSL 3, and the few calls that need a parameter list: OSSL_PARAM keeps pointers to names and
// buffers, which is safe to write down in C where both live on the stack of one function.
#pragma once
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/conf.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/objects.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/store.h>
#include <openssl/ui.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/// A new EC public key from an encoded point (form byte first). NULL on any failure; the caller frees it.
/// OpenSSL's import checks that the point lies on the curve.
static inline EVP_PKEY *mdoc_ec_public_key(const char *group, const unsigned char *point, size_t count) {
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  if (context == NULL) return NULL;
  OSSL_PARAM parameters[] = {
    OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)group, 0),
    OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, count),
    OSSL_PARAM_construct_end(),
  };
  if (EVP_PKEY_fromdata_init(context) != 1 || EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  EVP_PKEY_CTX_free(context);
  return key;
}

/// A new EC key pair from its scalar and encoded point. NULL on any failure; the caller frees it.
/// `size` is that of the group's order, at most 66.
static inline EVP_PKEY *mdoc_ec_key_pair(
    const char *group, const BIGNUM *scalar, int size, const unsigned char *point, size_t count) {
  unsigned char native[66];
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context;
  if (size > (int)sizeof native || BN_bn2nativepad(scalar, native, size) != size) return NULL;
  context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  if (context != NULL) {
    OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)group, 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, count),
      OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, native, (size_t)size),
      OSSL_PARAM_construct_end(),
    };
    if (EVP_PKEY_fromdata_init(context) != 1 || EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters) != 1) {
      EVP_PKEY_free(key);
      key = NULL;
    }
    EVP_PKEY_CTX_free(context);
  }
  OPENSSL_cleanse(native, sizeof native);
  return key;
}

/// What a look into a store (OSSL_STORE) found.
typedef struct {
  /// The first private key, which the caller frees; NULL when there is none or none was wanted.
  EVP_PKEY *key;
  /// How many objects there are.
  int count;
  /// Whether the store opened; what is in it is another question.
  int opened;
} mdoc_store_contents;

/// Looks under an address of a store, with the providers of a library context (NULL: the default one); whoever asks for a
/// PIN or a passphrase is answered by `ui`. `wants_key` leaves out everything but private keys.
static inline mdoc_store_contents mdoc_store_look(
    const char *address, OSSL_LIB_CTX *library, const UI_METHOD *ui, int wants_key) {
  mdoc_store_contents contents = {NULL, 0, 0};
  OSSL_STORE_CTX *store = OSSL_STORE_open_ex(address, library, NULL, ui, NULL, NULL, NULL, NULL);
  if (store == NULL) return contents;
  contents.opened = 1;
  if (!wants_key || OSSL_STORE_expect(store, OSSL_STORE_INFO_PKEY) == 1) {
    while (contents.key == NULL && !OSSL_STORE_eof(store)) {
      OSSL_STORE_INFO *info = OSSL_STORE_load(store);
      if (info == NULL) {
        if (OSSL_STORE_error(store)) break;
        continue;
      }
      contents.count += 1;
      if (wants_key && OSSL_STORE_INFO_get_type(info) == OSSL_STORE_INFO_PKEY) contents.key = OSSL_STORE_INFO_get1_PKEY(info);
      OSSL_STORE_INFO_free(info);
    }
  }
  OSSL_STORE_close(store);
  return contents;
}

/// Takes the oldest error out of the queue of this thread; 0 when there is none. `text` is what the place that failed added
/// to it, or NULL; it lasts until the next error.
static inline unsigned long mdoc_next_error(const char **text) {
  int flags = 0;
  unsigned long code = ERR_get_error_all(NULL, NULL, NULL, text, &flags);
  if (code == 0 || (flags & ERR_TXT_STRING) == 0) *text = NULL;
  return code;
}

/// Whether an EC key was read from explicit curve parameters: 1 yes, 0 no, -1 when the question failed.
static inline int mdoc_ec_has_explicit_parameters(const EVP_PKEY *key) {
  int explicit_parameters = 0;
  if (EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &explicit_parameters) != 1) return -1;
  return explicit_parameters != 0;
}

/// The affine coordinates of an EC public key, big-endian, `size` bytes each. 1 for success.
static inline int mdoc_ec_coordinates(const EVP_PKEY *key, unsigned char *x, unsigned char *y, int size) {
  BIGNUM *first = NULL, *second = NULL;
  int good = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_EC_PUB_X, &first) == 1
    && EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_EC_PUB_Y, &second) == 1
    && BN_bn2binpad(first, x, size) == size && BN_bn2binpad(second, y, size) == size;
  BN_free(first);
  BN_free(second);
  return good;
}

/// The scalar of an EC private key, big-endian, `size` bytes. 1 for success; nothing is written otherwise.
static inline int mdoc_ec_scalar(const EVP_PKEY *key, unsigned char *scalar, int size) {
  BIGNUM *number = NULL;
  int good = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1
    && BN_bn2binpad(number, scalar, size) == size;
  BN_clear_free(number);
  return good;
}

/// HKDF (RFC 5869, extract and expand) with SHA-256. 1 for success. An empty salt or info is allowed.
static inline int mdoc_hkdf_sha256(
    EVP_KDF *algorithm, const unsigned char *secret, size_t secret_count, const unsigned char *salt, size_t salt_count,
    const unsigned char *info, size_t info_count, unsigned char *output, size_t output_count) {
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(algorithm);
  int good;
  if (context == NULL) return 0;
  OSSL_PARAM parameters[] = {
    OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, secret_count),
    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_count),
    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_count),
    OSSL_PARAM_construct_end(),
  };
  good = EVP_KDF_derive(context, output, output_count, parameters) == 1;
  EVP_KDF_CTX_free(context);
  return good;
}

/// HMAC (RFC 2104) with SHA-256; `output` has 32 bytes. 1 for success.
static inline int mdoc_hmac_sha256(
    EVP_MAC *algorithm, const unsigned char *key, size_t key_count, const unsigned char *message, size_t message_count,
    unsigned char *output) {
  EVP_MAC_CTX *context = EVP_MAC_CTX_new(algorithm);
  size_t written = 0;
  int good;
  if (context == NULL) return 0;
  OSSL_PARAM parameters[] = {
    OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
    OSSL_PARAM_construct_end(),
  };
  good = EVP_MAC_init(context, key, key_count, parameters) == 1 && EVP_MAC_update(context, message, message_count) == 1
    && EVP_MAC_final(context, output, &written, 32) == 1 && written == 32;
  EVP_MAC_CTX_free(context);
  return good;
}

/// What BIO_get_mem_data does as a macro: where a memory BIO keeps its bytes (until the BIO is freed), and how many.
static inline long mdoc_bio_bytes(BIO *bio, unsigned char **bytes) { return BIO_ctrl(bio, BIO_CTRL_INFO, 0, bytes); }
