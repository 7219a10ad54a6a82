// What JOSE uses of libjose 11 (Debian 12) and 14 (Debian 13), and the few calls that need a callback or a chain of its
// streams. What is used here has the same declarations in both.
#pragma once
#include <jose/b64.h>
#include <jose/cfg.h>
#include <jose/io.h>
#include <jose/jwe.h>
#include <jose/jws.h>
#include <string.h>

static inline void mdoc_jose_say_nothing(
    void *misc, const char *file, int line, uint64_t error, const char *format, va_list arguments) {
  (void)misc, (void)file, (void)line, (void)error, (void)format, (void)arguments;
}

/// A configuration that keeps quiet: without one, libjose writes its errors to standard error. NULL for want of memory;
/// the caller gives it back with jose_cfg_decref. Its count of references is not atomic: one for each call.
static inline jose_cfg_t *mdoc_jose_configuration(void) {
  jose_cfg_t *configuration = jose_cfg();
  if (configuration != NULL) jose_cfg_set_err_func(configuration, mdoc_jose_say_nothing, NULL);
  return configuration;
}

/// Overwrites the text of a JSON string where it lies. Nothing happens to other values, nor to NULL.
static inline void mdoc_json_wipe(json_t *value) {
  if (json_is_string(value)) explicit_bzero((char *)json_string_value(value), json_string_length(value));
}

/// Decrypts `content` with a content encryption key; `jwe` has "protected", "iv" and "tag". `*count` is the room in
/// `output` before, and what is used of it after. On failure `output` is wiped: nothing that was not authenticated stays.
///
/// jose_jwe_dec_cek would do it too, but cannot tell an empty plaintext from a failure, makes room byte by byte, and
/// loses a copy of the header each time (libjose 14).
static inline bool mdoc_jose_decrypt(
    jose_cfg_t *configuration, const json_t *jwe, const json_t *key, const void *content, size_t content_count,
    void *output, size_t *count) {
  size_t room = *count;
  jose_io_t *buffer = jose_io_buffer(configuration, output, count);
  jose_io_t *stream = buffer == NULL ? NULL : jose_jwe_dec_cek_io(configuration, jwe, key, buffer);
  bool good = stream != NULL && stream->feed(stream, content, content_count) && stream->done(stream);
  jose_io_decref(stream);
  jose_io_decref(buffer);
  if (!good) {
    explicit_bzero(output, room);
    *count = 0;
  }
  return good;
}

/// Encrypts `content` with a content encryption key, and puts "iv" and "tag" into `jwe`. Returns the protected header as
/// it is part of what is authenticated (base64url, a new reference), or NULL on failure.
///
/// The header leaves `jwe` once the stream has taken it, since libjose 14 would look in it for "zip" and lose a copy.
static inline json_t *mdoc_jose_encrypt(
    jose_cfg_t *configuration, json_t *jwe, const json_t *key, const void *content, size_t content_count, void *output,
    size_t *count) {
  jose_io_t *buffer = jose_io_buffer(configuration, output, count);
  jose_io_t *stream = buffer == NULL ? NULL : jose_jwe_enc_cek_io(configuration, jwe, key, buffer);
  json_t *header = stream == NULL ? NULL : json_incref(json_object_get(jwe, "protected"));
  bool good = json_is_string(header) && json_object_del(jwe, "protected") == 0
    && stream->feed(stream, content, content_count) && stream->done(stream);
  jose_io_decref(stream);
  jose_io_decref(buffer);
  if (good) return header;
  json_decref(header);
  return NULL;
}
