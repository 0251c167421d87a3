// The probe stages as synthesis tops.
#include "probes.hpp"

#include "hw/synth/tops.hpp"
#include "probes.def"
