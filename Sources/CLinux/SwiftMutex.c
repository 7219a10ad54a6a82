// Shows the thread sanitizer the locks of Swift's Mutex; nothing in a build without it.
//
// A Mutex that nobody waits for is an atomic number, which the sanitizer follows. One that somebody waits for is taken and handed over in
// the library, which is not instrumented: each such time would be reported as a race. So these are put before the library's own three
// functions for that, by their names, and say what happens. Where a toolchain names them otherwise, the reports come back.
#define _GNU_SOURCE

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) && __has_attribute(swiftcall)

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall, no_sanitize("thread")))
#define SELF __attribute__((swift_context)) void *lock
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef void lock_function(uint32_t thread, SELF) __attribute__((swiftcall));
typedef bool try_lock_function(SELF) __attribute__((swiftcall));
typedef void unlock_function(SELF) __attribute__((swiftcall));

SWIFT void mutex_lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool mutex_try_lock_slow(SELF) __asm__(TRY_LOCK);
SWIFT void mutex_unlock_slow(SELF) __asm__(UNLOCK);

SWIFT void mutex_lock_slow(uint32_t thread, SELF) {
  ((lock_function *)dlsym(RTLD_NEXT, LOCK))(thread, lock);
  __tsan_acquire(lock);
}

SWIFT bool mutex_try_lock_slow(SELF) {
  bool is_taken = ((try_lock_function *)dlsym(RTLD_NEXT, TRY_LOCK))(lock);
  if (is_taken) __tsan_acquire(lock);
  return is_taken;
}

SWIFT void mutex_unlock_slow(SELF) {
  __tsan_release(lock);
  ((unlock_function *)dlsym(RTLD_NEXT, UNLOCK))(lock);
}

#endif
#endif
