package e2e

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// fastest is the maximum average speed of a clock in auto mode. Clusters don't wait long
// enough for more, and programs without a bent clock need time too.
const fastest = 60

// speed reads a speed from a variable: auto, or a number from 1 to 1000.
func speed(name string, b cluster.Backend) (clock.Speed, error) {
	v := os.Getenv(name)
	s := clock.Speed{Limit: fastest, Auto: true}
	switch {
	case v == "" && !b.Bends:
		return clock.Speed{Limit: 1}, nil
	case v != "" && v != "auto":
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n >= 1 && n <= 1000) {
			return clock.Speed{}, fmt.Errorf("%s=%s: neither auto nor a number from 1 to 1000", name, v)
		}
		s = clock.Speed{Limit: n}
	}
	if s.Bent() && !b.Bends {
		return s, fmt.Errorf("%s=%s: clocks of %s clusters on %s/%s can't be bent: say 1", name, s, b.Name, runtime.GOOS,
			runtime.GOARCH)
	}
	return s, nil
}

// clusterMemory is the memory in bytes for a cluster with a provider while specs run: 0.6 GB
// when started, or 0.75 GB if time is bent, and more with pods and their history.
const clusterMemory = 1 << 30

// procs returns how many clusters of a backend fit the CPUs and the available memory in bytes
// (0: unknown). Specs mostly wait, unless time is bent: then they compute all the time. A
// whole node for each cluster, in containers, needs more than processes alone.
func procs(b cluster.Backend, s clock.Speed, cpus int, memory uint64) int {
	n := min(8, 3*cpus)
	if s.Bent() {
		n = min(8, cpus+1)
	}
	switch {
	case b.Guest != nil:
		return 1
	case b.Containers:
		n = min(n, cpus)
	}
	if room := memory / clusterMemory; memory > 0 && room < uint64(n) {
		n = max(1, int(room))
	}
	return n
}

// availableMemory returns how much memory new programs can have without swapping, in bytes, or
// 0 if the system has no /proc/meminfo.
func availableMemory() uint64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line) // such as MemAvailable: 123456 kB
		if len(fields) > 1 && fields[0] == "MemAvailable:" {
			kilobytes, _ := strconv.ParseUint(fields[1], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}
