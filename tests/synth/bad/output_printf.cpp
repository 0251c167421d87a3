#include <stdio.h>

extern "C" int top(int x) {
  printf("%d\n", x);  // finding: io
  return x;
}
