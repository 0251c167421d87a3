extern "C" unsigned top(unsigned n) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; i++) sum += i * i ^ sum;  // finding: loop
  return sum;
}
