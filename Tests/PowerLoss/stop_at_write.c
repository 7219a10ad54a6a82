// Ends the process at its n-th call that changes a file or a name, before the call is made: what a power cut does, seen from
// the disk. Preloaded; MDOC_STOP_AT=n, MDOC_STOP_UNDER=folder. Calls on other folders do not count.
//
// It also keeps account of what is on the disk: a file that takes another's place by rename() without an fsync() since its
// last write may be empty after a real power cut. That ends the process with status 99, and a line says which.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { most_files = 256 };
static char unwritten[most_files][NAME_MAX + 1];  // names of files that were written and not synchronised

static int is_watched(const char *path) {
  const char *under = getenv("MDOC_STOP_UNDER");
  char full[PATH_MAX], folder[PATH_MAX];
  if (under == NULL || path == NULL) return 0;
  if (path[0] == '/') return strncmp(path, under, strlen(under)) == 0;
  if (getcwd(folder, sizeof folder) == NULL) return 0;
  if (strlen(folder) + strlen(path) + 2 > sizeof full) return 0;
  strcat(strcat(strcpy(full, folder), "/"), path);
  return strncmp(full, under, strlen(under)) == 0;
}

static int is_watched_descriptor(int descriptor, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t count = readlink(link, path, PATH_MAX - 1);
  if (count <= 0) return 0;
  path[count] = 0;
  return is_watched(path);
}

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static void mark(const char *path, int is_written) {
  const char *name = last_part(path);
  for (int place = 0; place < most_files; place++) {
    if (strcmp(unwritten[place], name) == 0) {
      if (!is_written) unwritten[place][0] = 0;
      return;
    }
  }
  for (int place = 0; is_written && place < most_files; place++) {
    if (unwritten[place][0] == 0) {
      snprintf(unwritten[place], sizeof unwritten[place], "%s", name);
      return;
    }
  }
}

static int is_unwritten(const char *path) {
  for (int place = 0; place < most_files; place++) {
    if (unwritten[place][0] != 0 && strcmp(unwritten[place], last_part(path)) == 0) return 1;
  }
  return 0;
}

// Counts a step, and ends here when it is the one.
static void step(void) {
  static long count;
  const char *stop = getenv("MDOC_STOP_AT");
  count++;
  if (stop != NULL && count == strtol(stop, NULL, 10)) _exit(137);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int descriptor, const void *bytes, size_t count) {
  char path[PATH_MAX];
  if (is_watched_descriptor(descriptor, path)) {
    step();
    // A cut may also fall within a write.
    if (getenv("MDOC_STOP_TORN") != NULL && count > 1) REAL(write)(descriptor, bytes, count / 2), step();
    mark(path, 1);
    if (getenv("MDOC_STOP_TORN") != NULL && count > 1) {
      ssize_t rest = REAL(write)(descriptor, (const char *)bytes + count / 2, count - count / 2);
      return rest < 0 ? rest : (ssize_t)count;
    }
  }
  return REAL(write)(descriptor, bytes, count);
}

int fsync(int descriptor) {
  char path[PATH_MAX];
  if (is_watched_descriptor(descriptor, path)) {
    step();
    mark(path, 0);
  }
  return REAL(fsync)(descriptor);
}

int rename(const char *from, const char *to) {
  if (is_watched(to)) {
    struct stat facts;
    step();
    if (lstat(from, &facts) == 0 && S_ISREG(facts.st_mode) && is_unwritten(from)) {
      fprintf(stderr, "not on the disk before its rename: %s\n", from);
      _exit(99);
    }
  }
  return REAL(rename)(from, to);
}

int unlink(const char *path) {
  if (is_watched(path)) step();
  return REAL(unlink)(path);
}

int rmdir(const char *path) {
  if (is_watched(path)) step();
  return REAL(rmdir)(path);
}

int mkdir(const char *path, mode_t mode) {
  if (is_watched(path)) step();
  return REAL(mkdir)(path, mode);
}

int symlink(const char *target, const char *path) {
  if (is_watched(path)) step();
  return REAL(symlink)(target, path);
}

int fchmod(int descriptor, mode_t mode) {
  char path[PATH_MAX];
  if (is_watched_descriptor(descriptor, path)) step();
  return REAL(fchmod)(descriptor, mode);
}

static int opened(const char *path, int flags) {
  if ((flags & (O_CREAT | O_TRUNC)) && is_watched(path)) step();
  return 0;
}

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  opened(path, flags);
  return REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  opened(path, flags);
  return REAL(open64)(path, flags, mode);
}
