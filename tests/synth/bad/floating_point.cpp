extern "C" int top(int x) {
  const float y = x * 0.5f;    // finding: float
  return static_cast<int>(y);  // finding: float
}
