extern "C" unsigned top(unsigned x) {
  for (int i = 0; i < 100000; i++) x = x * 5 ^ (x >> 3);  // finding: loop
  return x;
}
