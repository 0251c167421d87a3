extern "C" int top(int x) {
  int* p = new int(x);  // finding: heap
  const int y = *p;
  delete p;  // finding: heap
  return y;
}
