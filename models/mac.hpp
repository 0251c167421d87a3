// The Ethernet MAC between the NIC's beats and the frames on the line.
#pragma once
#include "models/mac_rx.hpp"
#include "models/mac_tx.hpp"
