struct Node {
  int value;
  Node* next;
};
Node head, other;

extern "C" void top(int x) {
  other.value = x;
  head.next = &other;  // finding: pointer
}
