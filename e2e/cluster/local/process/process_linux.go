package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// inspect reads /proc/<pid>/stat; see proc(5).
func inspect(pid int) (status, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return status{}, ErrNone
	}
	if err != nil {
		return status{}, err
	}
	// "123 (name) S 1 ...": the name may hold blanks and parentheses, so fields are counted
	// after the last parenthesis. State is field 3, start time field 22.
	_, rest, ok := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return status{}, fmt.Errorf("/proc/%d/stat is not as expected: %q", pid, stat)
	}
	return status{started: fields[19], zombie: fields[0] == "Z" || fields[0] == "X"}, nil
}

// programOf returns what a process runs; empty for other users' processes.
func programOf(pid int) (p program) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	p.exe, _ = os.Readlink(filepath.Join(dir, "exe"))
	cmdline, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
	if len(cmdline) > 0 {
		p.args = strings.Split(strings.TrimSuffix(string(cmdline), "\x00"), "\x00")
	}
	return p
}

func list() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
