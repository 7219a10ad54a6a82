#include "ctoml.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string_view>
#include <vector>

struct ctoml_document {
  toml::table root;
  std::vector<ctoml_entry> entries;
};

namespace {

// Deeper values are refused: the caller looks for deep nesting before, this is the second fence.
constexpr int maximum_depth = 64;

struct too_deep {
  toml::source_position place;
};

void fail(ctoml_error *error, uint32_t line, uint32_t column, std::string_view message) noexcept {
  if (error == nullptr) return;
  error->line = line;
  error->column = column;
  const size_t length = std::min(message.size(), sizeof error->message - 1);
  std::memcpy(error->message, message.data(), length);
  error->message[length] = '\0';
}

void append(ctoml_document &document, const toml::node &node, const toml::key *key, uint32_t parent, int depth) {
  const toml::source_position place = key != nullptr ? key->source().begin : node.source().begin;
  if (depth > maximum_depth) throw too_deep{place};
  ctoml_entry entry{};
  entry.parent = parent;
  entry.line = place.line;
  entry.column = place.column;
  if (key != nullptr) {
    entry.key = key->str().data();
    entry.key_length = key->str().size();
  }
  const auto self = static_cast<uint32_t>(document.entries.size());
  switch (node.type()) {
    case toml::node_type::table: entry.kind = CTOML_TABLE; break;
    case toml::node_type::array: entry.kind = CTOML_ARRAY; break;
    case toml::node_type::string: {
      const std::string &text = node.as_string()->get();
      entry.kind = CTOML_STRING;
      entry.text = text.data();
      entry.text_length = text.size();
      break;
    }
    case toml::node_type::integer:
      entry.kind = CTOML_INTEGER;
      entry.integer = node.as_integer()->get();
      break;
    case toml::node_type::floating_point:
      entry.kind = CTOML_FLOAT;
      entry.number = node.as_floating_point()->get();
      break;
    case toml::node_type::boolean:
      entry.kind = CTOML_BOOLEAN;
      entry.integer = node.as_boolean()->get() ? 1 : 0;
      break;
    case toml::node_type::date: {
      const toml::date date = node.as_date()->get();
      entry.kind = CTOML_DATE;
      entry.integer = date.year * 10000 + date.month * 100 + date.day;
      break;
    }
    default: entry.kind = CTOML_TIME; break;
  }
  document.entries.push_back(entry);
  if (const toml::table *table = node.as_table()) {
    for (auto &&[name, value] : *table) append(document, value, &name, self, depth + 1);
  } else if (const toml::array *array = node.as_array()) {
    for (const toml::node &value : *array) append(document, value, nullptr, self, depth + 1);
  }
}

}  // namespace

ctoml_document *ctoml_parse(const char *text, size_t length, ctoml_error *error) {
  ctoml_document *document = nullptr;
  try {
    document = new ctoml_document;
    document->root = toml::parse(std::string_view(text == nullptr ? "" : text, text == nullptr ? 0 : length));
    append(*document, document->root, nullptr, 0, 0);
    return document;
  } catch (const toml::parse_error &problem) {
    fail(error, problem.source().begin.line, problem.source().begin.column, problem.description());
  } catch (const too_deep &problem) {
    fail(error, problem.place.line, problem.place.column, "nested too deeply");
  } catch (const std::exception &problem) {
    fail(error, 0, 0, problem.what());
  } catch (...) {
    fail(error, 0, 0, "unknown failure");
  }
  delete document;
  return nullptr;
}

size_t ctoml_count(const ctoml_document *document) { return document == nullptr ? 0 : document->entries.size(); }

ctoml_entry ctoml_at(const ctoml_document *document, size_t index) {
  return index < ctoml_count(document) ? document->entries[index] : ctoml_entry{};
}

void ctoml_free(ctoml_document *document) { delete document; }
