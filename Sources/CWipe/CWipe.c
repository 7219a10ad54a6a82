#define _GNU_SOURCE
#include "CWipe.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HAS_OTHER_ALLOCATOR 1
#endif
#endif

#ifndef HAS_OTHER_ALLOCATOR

// glibc's own names of what is replaced here
extern void __libc_free(void *memory);
extern void *__libc_realloc(void *memory, size_t size);

void free(void *memory) {
  if (memory == NULL) return;
  explicit_bzero(memory, malloc_usable_size(memory));
  __libc_free(memory);
}

// glibc would leave the old copy as it is where it moves a block.
void *realloc(void *memory, size_t size) {
  if (memory == NULL) return malloc(size);
  if (size == 0) {
    free(memory);
    return NULL;
  }
  size_t usable = malloc_usable_size(memory);
  if (size <= usable) {
    // What is cut off, and given back without another word
    explicit_bzero((char *)memory + size, usable - size);
    return __libc_realloc(memory, size);
  }
  void *moved = malloc(size);
  if (moved == NULL) return NULL;
  memcpy(moved, memory, usable);
  free(memory);
  return moved;
}

#endif
