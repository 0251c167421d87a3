// The tops of the co-simulation: those of the NIC, and narrow ones.
#include "hw/synth/tops.cpp"  // NOLINT(bugprone-suspicious-include): a list of tops is one source to balboa-synth

#include "tests/cosim/narrow.def"
