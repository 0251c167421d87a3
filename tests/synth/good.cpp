// What stages may do: bounded loops, early exits, tables, constant data, calls of their own functions.
#include <stdint.h>

namespace {

const uint8_t kTable[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};

struct Stage {
  uint32_t count = 0;
  uint8_t rows[16] = {};

  uint32_t first_free() const {
    for (uint32_t i = 0; i < 16; i++)
      if (rows[i] == 0) return i;
    return 16;
  }
  void step(uint32_t x) {
    const uint32_t slot = first_free();
    if (slot == 16) return;
    rows[slot] = kTable[x % 16];
    for (int i = 0; i < 8; i++) {
      if ((x >> i & 1) == 0) break;
      count += x / 8 + unsigned(i) % 3;
    }
  }
};

Stage stage;

}  // namespace

extern "C" void top(uint32_t x) {
  stage.step(x);
}
