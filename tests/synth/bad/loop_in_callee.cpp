static unsigned count(unsigned n) {
  unsigned steps = 0;
  for (unsigned i = 1; i < n; i = i * 3 + steps) steps++;  // finding: loop
  return steps;
}
extern "C" unsigned top(unsigned n) { return count(n); }
