// The least that OpenSSL has to do with an encrypted answer: AES-256-GCM over all of it, SHA-256 over each of its items.
//
//   answer FILE     then commands on standard input, "new PASSES"; each is answered with the median time in nanoseconds
//
// FILE, as mdoc-bench writes it: blocks of bytes after their length (four bytes, least significant first): key, nonce, ciphertext
// with its tag; the number of items (bare); the items. The cipher is fetched and keyed beforehand, memory is there.
#include <openssl/evp.h>

#include "floor.h"

enum { most_items = 64, most_passes = 10000, tag_size = 16 };

int main(int count, char **arguments) {
  static long long times[most_passes];
  static struct block items[most_items];
  char command[8];
  int passes;
  check(count == 2, "arguments: one FILE");
  open_file(arguments[1]);
  struct block key = block(), nonce = block(), sealed = block();
  check(key.count == 32 && nonce.count == 12 && sealed.count > tag_size, "the sizes of key, nonce and ciphertext");
  size_t item_count = number(), length = sealed.count - tag_size;
  check(item_count <= most_items, "the number of items");
  for (size_t item = 0; item < item_count; item++) items[item] = block();

  EVP_MD *sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
  EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
  EVP_MD_CTX *digests = EVP_MD_CTX_new();
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  unsigned char *plain = malloc(length), digest[32];
  check(plain != NULL && EVP_DecryptInit_ex2(context, cipher, key.bytes, NULL, NULL) == 1, "the key");
  while (scanf("%7s %d", command, &passes) == 2) {
    check(passes > 0 && passes <= most_passes, "the number of passes");
    for (int pass = 0; pass < passes; pass++) {
      int written = 0, rest = 0;
      long long start = now();
      check(EVP_DecryptInit_ex2(context, NULL, NULL, nonce.bytes, NULL) == 1 &&
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag_size, (void *)(sealed.bytes + length)) == 1 &&
                EVP_DecryptUpdate(context, plain, &written, sealed.bytes, (int)length) == 1 &&
                EVP_DecryptFinal_ex(context, plain + written, &rest) == 1,
            "decrypting");
      for (size_t item = 0; item < item_count; item++) {
        check(EVP_DigestInit_ex2(digests, sha256, NULL) == 1 &&
                  EVP_DigestUpdate(digests, items[item].bytes, items[item].count) == 1 &&
                  EVP_DigestFinal_ex(digests, digest, NULL) == 1,
              "hashing");
      }
      times[pass] = now() - start;
    }
    say_median(times, (size_t)passes);
  }
  return 0;
}
