extern "C" int top(int x) {
  asm volatile("nop");  // finding: asm
  return x;
}
