package process

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

const zombie = 5 // SZOMB of sys/proc.h

func inspect(pid int) (status, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return status{}, ErrNone // EIO: nothing was returned
	}
	start := info.Proc.P_starttime
	return status{
		started: fmt.Sprintf("%d.%06d", start.Sec, start.Usec),
		zombie:  info.Proc.P_stat == zombie,
	}, nil
}

// programOf returns what a process runs; empty for other users' processes.
func programOf(pid int) (p program) {
	// The argument count, the program's path, zeros, the arguments, the environment.
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(raw) < 4 {
		return p
	}
	n := int(binary.NativeEndian.Uint32(raw))
	exe, rest, _ := bytes.Cut(raw[4:], []byte{0})
	p.exe = string(exe)
	words := strings.Split(string(bytes.TrimLeft(rest, "\x00")), "\x00")
	p.args = words[:min(n, len(words))]
	return p
}

func list() ([]int, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	pids := make([]int, 0, len(all))
	for _, p := range all {
		pids = append(pids, int(p.Proc.P_pid))
	}
	return pids, nil
}
