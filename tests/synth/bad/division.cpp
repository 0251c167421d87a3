extern "C" unsigned top(unsigned a, unsigned b) {
  return a / b;  // finding: division
}
