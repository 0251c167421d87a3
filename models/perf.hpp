// The workloads of perftest.
#pragma once
#include "models/write_bandwidth.hpp"
#include "models/write_latency.hpp"
