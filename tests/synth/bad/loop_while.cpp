extern "C" unsigned top(unsigned n) {
  unsigned steps = 0;
  while (n != 1) {  // finding: loop
    n = n % 2 ? 3 * n + 1 : n / 2;
    steps++;
  }
  return steps;
}
