#include <vector>

extern "C" int top(int x) {
  std::vector<int> v;  // finding: call
  v.push_back(x);      // finding: call
  return v[0];         // finding: call
}  // finding: call
