// The least that OpenSSL has to do to verify one mDL answer: what our whole verification is compared with.
//
//   verify FILE     then commands on standard input, "new PASSES" or "seen PASSES"; each is answered with the median time
//                   of one answer in nanoseconds
//
// FILE, as mdoc-bench writes it: blocks of bytes after their length (four bytes, least significant first): the root
// certificate; then the number of answers (a bare number); then for each the signer certificate, what the issuer signed
// (Sig_structure), its signature (r || s), the device key's point, what the device signed, its signature, the number of
// items (bare), the items.
//
// What can be done beforehand is: digests fetched, one digest context, the root's key kept, signatures turned into DER,
// the place of the signed part of a certificate found, the device key's curve set up. Every result is checked.
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <string.h>

#include "floor.h"

enum { most_answers = 64, most_items = 64, most_passes = 1000 };

struct answer {
  struct block certificate, signed_part, issuer_input, issuer_signature, point, device_input, device_signature;
  size_t item_count;
  struct block items[most_items];
  EVP_PKEY *seen_signer;
};

static EVP_MD *sha256;
static EVP_MD_CTX *digest_context;
static EVP_PKEY *root_key, *curve;
static struct answer answers[most_answers];
static size_t answer_count;

static struct block der_signature(struct block raw) {
  ECDSA_SIG *signature = ECDSA_SIG_new();
  unsigned char *der = NULL;
  size_t size = raw.count / 2;
  check(ECDSA_SIG_set0(signature, BN_bin2bn(raw.bytes, size, NULL), BN_bin2bn(raw.bytes + size, size, NULL)),
        "ECDSA_SIG_set0");
  int count = i2d_ECDSA_SIG(signature, &der);
  check(count > 0, "i2d_ECDSA_SIG");
  ECDSA_SIG_free(signature);
  return (struct block){der, count};
}

static X509 *certificate(struct block der) {
  const unsigned char *next = der.bytes;
  X509 *result = d2i_X509(NULL, &next, der.count);
  check(result != NULL, "d2i_X509");
  return result;
}

// The signed part lies behind the head of the outer sequence.
static struct block signed_part(struct block der) {
  X509 *parsed = certificate(der);
  unsigned char *encoded = NULL;
  int count = i2d_re_X509_tbs(parsed, &encoded);
  const unsigned char *found = der.bytes + 4;
  check(count > 0 && (size_t)count + 4 <= der.count && memcmp(found, encoded, count) == 0, "finding the signed part");
  OPENSSL_free(encoded);
  X509_free(parsed);
  return (struct block){found, count};
}

static void hash(struct block bytes, unsigned char *digest) {
  check(EVP_DigestInit_ex2(digest_context, sha256, NULL) == 1
          && EVP_DigestUpdate(digest_context, bytes.bytes, bytes.count) == 1
          && EVP_DigestFinal_ex(digest_context, digest, NULL) == 1,
        "SHA-256");
}

static void verify(EVP_PKEY *key, struct block input, struct block signature) {
  unsigned char digest[32];
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  hash(input, digest);
  check(context != NULL && EVP_PKEY_verify_init(context) == 1
          && EVP_PKEY_verify(context, signature.bytes, signature.count, digest, sizeof digest) == 1,
        "a signature");
  EVP_PKEY_CTX_free(context);
}

static void verify_answer(struct answer *answer, int is_new) {
  unsigned char digest[32];
  X509 *parsed = NULL;
  EVP_PKEY *signer = answer->seen_signer;
  if (is_new) {
    const ASN1_BIT_STRING *signature;
    parsed = certificate(answer->certificate);
    signer = X509_get0_pubkey(parsed);
    X509_get0_signature(&signature, NULL, parsed);
    verify(root_key, answer->signed_part, (struct block){signature->data, signature->length});
  }
  verify(signer, answer->issuer_input, answer->issuer_signature);
  for (size_t item = 0; item < answer->item_count; item++) hash(answer->items[item], digest);
  EVP_PKEY *device = EVP_PKEY_dup(curve);
  check(EVP_PKEY_set1_encoded_public_key(device, answer->point.bytes, answer->point.count) == 1, "the device key");
  verify(device, answer->device_input, answer->device_signature);
  EVP_PKEY_free(device);
  X509_free(parsed);
}

static void load(const char *path) {
  open_file(path);
  X509 *root = certificate(block());
  root_key = X509_get_pubkey(root);
  X509_free(root);
  answer_count = number();
  check(answer_count <= most_answers, "the number of answers");
  for (size_t index = 0; index < answer_count; index++) {
    struct answer *answer = &answers[index];
    answer->certificate = block();
    answer->signed_part = signed_part(answer->certificate);
    X509 *parsed = certificate(answer->certificate);
    answer->seen_signer = X509_get_pubkey(parsed);
    X509_free(parsed);
    answer->issuer_input = block();
    answer->issuer_signature = der_signature(block());
    answer->point = block();
    answer->device_input = block();
    answer->device_signature = der_signature(block());
    answer->item_count = number();
    check(answer->item_count <= most_items, "the number of items");
    for (size_t item = 0; item < answer->item_count; item++) answer->items[item] = block();
  }
}

int main(int count, char **arguments) {
  static long long times[most_passes * most_answers];
  char command[8];
  int passes;
  check(count == 2, "arguments: one FILE");
  sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
  digest_context = EVP_MD_CTX_new();
  load(arguments[1]);
  curve = EVP_PKEY_dup(root_key);
  while (scanf("%7s %d", command, &passes) == 2) {
    int is_new = strcmp(command, "new") == 0;
    size_t place = 0;
    check(passes > 0 && passes <= most_passes, "the number of passes");
    for (size_t index = 0; index < answer_count; index++) verify_answer(&answers[index], is_new);
    for (int pass = 0; pass < passes; pass++) {
      for (size_t index = 0; index < answer_count; index++) {
        long long start = now();
        verify_answer(&answers[index], is_new);
        times[place++] = now() - start;
      }
    }
    say_median(times, place);
  }
  return 0;
}
