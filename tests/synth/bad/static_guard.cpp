int outside();

extern "C" int top() {
  static const int first = outside();  // finding: static finding: call
  return first;
}
