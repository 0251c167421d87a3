extern "C" unsigned long top(const int* word) {
  return reinterpret_cast<unsigned long>(word) >> 3;  // finding: pointer
}
