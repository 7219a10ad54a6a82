// What the HTTPFetch edge needs of libcurl. The library is loaded when the first request is made, and by nobody else: the reader
// itself has no code in its process that opens an IP socket.
#pragma once

#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>
#include <stddef.h>

/// Loads the library and makes it ready. NULL on success, otherwise why not; the text stays valid.
const char *ccurl_load(void);

/// Everything below needs `ccurl_load` to have succeeded.
void *ccurl_new(void);
void ccurl_free(void *handle);
int ccurl_set_number(void *handle, CURLoption option, long value);
int ccurl_set_size(void *handle, CURLoption option, long long value);
/// The text is copied.
int ccurl_set_text(void *handle, CURLoption option, const char *value);
int ccurl_set_pointer(void *handle, CURLoption option, void *value);
int ccurl_set_receiver(void *handle, CURLoption option, size_t (*value)(char *, size_t, size_t, void *));
/// The number that CURLOPT_SSLVERSION takes for TLS 1.2 and later: a constant in one version of the library, a macro in another.
long ccurl_tls12(void);
int ccurl_perform(void *handle);
long ccurl_number(void *handle, CURLINFO info);
/// NULL where there is none; valid until the handle is used again.
const char *ccurl_text(void *handle, CURLINFO info);
/// A list of header lines, longer by one; NULL on failure, and then the old one is still there.
void *ccurl_append(void *list, const char *line);
void ccurl_free_list(void *list);
