extern "C" double top(double x) {  // finding: float
  return x;                        // finding: float
}
