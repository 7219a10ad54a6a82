#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static struct {
  __typeof__(curl_global_init) *global_init;
  __typeof__(curl_easy_init) *easy_init;
  __typeof__(curl_easy_cleanup) *easy_cleanup;
  __typeof__(curl_easy_setopt) *easy_setopt;
  __typeof__(curl_easy_perform) *easy_perform;
  __typeof__(curl_easy_getinfo) *easy_getinfo;
  __typeof__(curl_slist_append) *slist_append;
  __typeof__(curl_slist_free_all) *slist_free_all;
} curl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
/// Nil when all went well. Kept: what dlerror gives is gone with the next call.
static char *problem;

static void load(void) {
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    problem = strdup(dlerror());
    return;
  }
#define FIND(name)                                                              \
  if (!(curl.name = (__typeof__(curl.name))dlsym(library, "curl_" #name))) {    \
    problem = strdup(dlerror());                                                \
    return;                                                                     \
  }
  FIND(global_init)
  FIND(easy_init)
  FIND(easy_cleanup)
  FIND(easy_setopt)
  FIND(easy_perform)
  FIND(easy_getinfo)
  FIND(slist_append)
  FIND(slist_free_all)
#undef FIND
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) problem = strdup("it cannot be made ready");
}

const char *ccurl_load(void) {
  pthread_once(&once, load);
  return problem;
}

void *ccurl_new(void) { return curl.easy_init(); }
void ccurl_free(void *handle) { curl.easy_cleanup(handle); }

int ccurl_set_number(void *handle, CURLoption option, long value) { return curl.easy_setopt(handle, option, value); }

int ccurl_set_size(void *handle, CURLoption option, long long value) {
  return curl.easy_setopt(handle, option, (curl_off_t)value);
}

int ccurl_set_text(void *handle, CURLoption option, const char *value) {
  return curl.easy_setopt(handle, option, value);
}

int ccurl_set_pointer(void *handle, CURLoption option, void *value) {
  return curl.easy_setopt(handle, option, value);
}

int ccurl_set_receiver(void *handle, CURLoption option, size_t (*value)(char *, size_t, size_t, void *)) {
  return curl.easy_setopt(handle, option, value);
}

long ccurl_tls12(void) { return CURL_SSLVERSION_TLSv1_2; }
int ccurl_perform(void *handle) { return curl.easy_perform(handle); }

long ccurl_number(void *handle, CURLINFO info) {
  long value = 0;
  return curl.easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

const char *ccurl_text(void *handle, CURLINFO info) {
  char *value = NULL;
  return curl.easy_getinfo(handle, info, &value) == CURLE_OK ? value : NULL;
}

void *ccurl_append(void *list, const char *line) { return curl.slist_append(list, line); }
void ccurl_free_list(void *list) { curl.slist_free_all(list); }
