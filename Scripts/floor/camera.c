// Bare zbar on the pictures of a camera: what our way from a frame to its text is compared with.
//
//   camera FILE     then a line on standard input for each round; each is answered with the median time of one picture in
//                   nanoseconds
//
// FILE, as mdoc-bench writes it: four numbers (four bytes each, least significant first): width, height, pictures, and how
// many of them hold a code; then the pictures, one byte a pixel. The settings are those of Sources/QRScan.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zbar.h>

enum { most_pictures = 256 };

static void check(int good, const char *what) {
  if (good) return;
  fprintf(stderr, "floor: %s failed\n", what);
  exit(1);
}

static int ascending(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(int count, char **words) {
  check(count == 2, "camera FILE");
  FILE *file = fopen(words[1], "rb");
  uint32_t facts[4];
  check(file != NULL && fread(facts, sizeof facts, 1, file) == 1, "reading the file");
  check(facts[2] > 0 && facts[2] <= most_pictures, "counting the pictures");
  size_t size = (size_t)facts[0] * facts[1];
  unsigned char *pictures = malloc(size * facts[2]);
  check(pictures != NULL && fread(pictures, size, facts[2], file) == facts[2], "reading the pictures");
  fclose(file);

  zbar_image_scanner_t *scanner = zbar_image_scanner_create();
  check(scanner != NULL, "zbar_image_scanner_create");
  zbar_image_scanner_request_dbus(scanner, 0);
  zbar_image_scanner_set_config(scanner, ZBAR_NONE, ZBAR_CFG_ENABLE, 0);
  zbar_image_scanner_set_config(scanner, ZBAR_QRCODE, ZBAR_CFG_ENABLE, 1);
  zbar_image_scanner_set_config(scanner, ZBAR_QRCODE, ZBAR_CFG_BINARY, 1);

  char line[64];
  int64_t times[most_pictures];
  while (fgets(line, sizeof line, stdin) != NULL) {
    uint32_t found = 0;
    for (uint32_t index = 0; index < facts[2]; index++) {
      int64_t start = now();
      zbar_image_t *image = zbar_image_create();
      zbar_image_set_format(image, zbar_fourcc('Y', '8', '0', '0'));
      zbar_image_set_size(image, facts[0], facts[1]);
      zbar_image_set_data(image, pictures + index * size, size, NULL);
      if (zbar_scan_image(scanner, image) > 0 &&
          zbar_symbol_get_data_length(zbar_image_first_symbol(image)) > 0)
        found++;
      zbar_image_destroy(image);
      times[index] = now() - start;
    }
    check(found == facts[3], "finding the codes");
    qsort(times, facts[2], sizeof times[0], ascending);
    printf("%lld\n", (long long)times[facts[2] / 2]);
    fflush(stdout);
  }
  return 0;
}
