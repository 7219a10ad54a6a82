#pragma once
// A C face of toml++: text in, a flat list of values with their places out. No exception crosses it.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ctoml_document ctoml_document;

enum ctoml_kind {
  CTOML_TABLE = 0,
  CTOML_ARRAY = 1,
  CTOML_STRING = 2,
  CTOML_INTEGER = 3,
  CTOML_FLOAT = 4,
  CTOML_BOOLEAN = 5,
  CTOML_DATE = 6,
  // A time of day, or a date with a time: not used by this project, known so that it can be named.
  CTOML_TIME = 7,
};

// One value. Parents come before their children; entry 0 is the root table. Pointers live as long as the document.
typedef struct ctoml_entry {
  int32_t kind;
  // Index of the table or array that holds it; 0 for the root itself.
  uint32_t parent;
  // The key in a table; NULL in an array.
  const char *key;
  size_t key_length;
  // From 1, columns in characters; where the key begins, or the value where there is no key.
  uint32_t line;
  uint32_t column;
  const char *text;
  size_t text_length;
  // Integer; 0 or 1 for a boolean; year * 10000 + month * 100 + day for a date.
  int64_t integer;
  double number;
} ctoml_entry;

typedef struct ctoml_error {
  // 0 where no place is known.
  uint32_t line;
  uint32_t column;
  // Terminated; cut where it is longer.
  char message[240];
} ctoml_error;

// NULL on failure, with *error filled in. The text is not kept.
ctoml_document *ctoml_parse(const char *text, size_t length, ctoml_error *error);
size_t ctoml_count(const ctoml_document *document);
// A zeroed entry beyond the end.
ctoml_entry ctoml_at(const ctoml_document *document, size_t index);
void ctoml_free(ctoml_document *document);

#ifdef __cplusplus
}
#endif
