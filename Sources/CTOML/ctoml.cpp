#include "ctoml.h"
#include <toml++/toml.h>

