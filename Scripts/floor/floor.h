// What the floor programs of OpenSSL's work share: the file that mdoc-bench writes for them, the clock, the median.
//
// A file is blocks of bytes after their length (four bytes, least significant first), and bare numbers of four bytes.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct block { const unsigned char *bytes; size_t count; };

static const unsigned char *position, *end;

static inline void check(int good, const char *what) {
  if (good) return;
  fprintf(stderr, "floor: %s failed\n", what);
  exit(1);
}

// Reads a whole file; number and block take it from its beginning.
static inline void open_file(const char *path) {
  FILE *input = fopen(path, "rb");
  check(input != NULL && fseek(input, 0, SEEK_END) == 0, "opening the file");
  long size = ftell(input);
  rewind(input);
  unsigned char *file = malloc((size_t)size);
  check(file != NULL && fread(file, 1, (size_t)size, input) == (size_t)size, "reading the file");
  fclose(input);
  position = file;
  end = file + size;
}

static inline size_t number(void) {
  check(end - position >= 4, "reading the file");
  size_t value = position[0] | position[1] << 8 | position[2] << 16 | (size_t)position[3] << 24;
  position += 4;
  return value;
}

static inline struct block block(void) {
  struct block result;
  result.count = number();
  check((size_t)(end - position) >= result.count, "reading the file");
  result.bytes = position;
  position += result.count;
  return result;
}

static inline long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static inline int compare(const void *left, const void *right) {
  long long a = *(const long long *)left, b = *(const long long *)right;
  return (a > b) - (a < b);
}

// Says the median of so many times, which it sorts.
static inline void say_median(long long *times, size_t count) {
  qsort(times, count, sizeof *times, compare);
  printf("%lld\n", times[count / 2]);
  fflush(stdout);
}
