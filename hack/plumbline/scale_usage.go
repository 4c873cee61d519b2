package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local"
	"github.com/plumbline-e2e/plumbline/e2e/compare"
)

// Names of processes that are told apart.
const (
	karpenterProcess = "Karpenter"
	kwokProcess      = "KWOK"
	simulatorProcess = "simulator"
	clockProcess     = "the clock"
	ownProcess       = "Plumbline" // the recorder, and what waits for steps
)

// processMeter reads what a cluster's processes use, from /proc. Elsewhere than on Linux it finds nothing.
type processMeter struct {
	cache   *build.Cache
	cluster string
	clocks  []int              // IDs of processes that bend time; they live as long as the cluster
	most    map[string]float64 // memory in MB, by the names of processes
}

// newProcessMeter returns a meter of a cluster that runs.
func newProcessMeter(c *build.Cache, cluster string) *processMeter {
	m := &processMeter{cache: c, cluster: cluster, most: map[string]float64{}}
	for _, pid := range children(os.Getpid()) {
		if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); strings.TrimSpace(string(name)) == "shim" {
			m.clocks = append(m.clocks, pid)
		}
	}
	return m
}

// read returns the CPU time in seconds that each process has used, by its name, and notes its memory.
func (u *processMeter) read() map[string]float64 {
	used := map[string]float64{}
	pids, _ := local.Processes(u.cache, u.cluster) // those that are known count
	add := func(pid int, name string) {
		seconds, megabytes := processUsage(pid)
		used[name] += seconds
		u.most[name] = max(u.most[name], megabytes)
	}
	for _, pid := range pids {
		add(pid, processName(pid))
	}
	add(os.Getpid(), ownProcess)
	for _, pid := range u.clocks {
		add(pid, clockProcess)
	}
	return used
}

// since returns what processes have used since a reading, and the most memory that each has had by now.
func (u *processMeter) since(before map[string]float64) []compare.Process {
	var all []compare.Process
	now := u.read()
	for _, name := range slices.Sorted(maps.Keys(now)) {
		all = append(all, compare.Process{Name: name, CPU: max(0, now[name]-before[name]), Memory: u.most[name]})
	}
	return all
}

// processName returns the component that a process of a cluster is. What is no component is the provider's.
func processName(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return karpenterProcess
	}
	program, _, _ := strings.Cut(string(line), "\x00")
	switch base := filepath.Base(program); {
	case base == "etcd", base == simulatorProcess, strings.HasPrefix(base, "kube-"):
		return base
	case strings.Contains(string(line), "--manage-nodes-with-annotation-selector"):
		return kwokProcess
	}
	return karpenterProcess
}

// ticks is how many units /proc counts a second of CPU time as (getconf CLK_TCK), on all systems that Go runs on.
const ticks = 100

// processUsage returns the CPU time in seconds and the resident memory in MB of a process; zero if it is gone.
func processUsage(pid int) (seconds, megabytes float64) {
	fields := statFields(pid)
	if len(fields) < 22 {
		return 0, 0
	}
	number := func(i int) float64 {
		n, _ := strconv.ParseFloat(fields[i], 64)
		return n
	}
	// Fields 14, 15 and 24 of proc_pid_stat(5), of which two are cut off.
	return (number(11) + number(12)) / ticks, number(21) * float64(os.Getpagesize()) / 1e6
}

// statFields returns the fields of /proc/pid/stat after the program's name, which may have spaces.
func statFields(pid int) []string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(line[strings.LastIndexByte(string(line), ')')+1:]))
}

// children returns the IDs of a process's children.
func children(of int) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		if fields := statFields(pid); len(fields) > 1 && fields[1] == strconv.Itoa(of) {
			pids = append(pids, pid)
		}
	}
	return pids
}
