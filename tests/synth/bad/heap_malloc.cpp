#include <stdlib.h>

extern "C" int top(int x) {
  int* p = static_cast<int*>(malloc(sizeof(int)));  // finding: heap
  *p = x;
  return *p;
}
