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
	s := status{
		started: fmt.Sprintf("%d.%06d", start.Sec, start.Usec),
		zombie:  info.Proc.P_stat == zombie,
	}
	// The number of arguments, the path of the program, zeros, the arguments,
	// the environment. Refused for processes of other users, which are not ours.
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(raw) < 4 {
		return s, nil //nolint:nilerr // known to live, which is most of what is asked
	}
	n := int(binary.NativeEndian.Uint32(raw))
	exe, rest, _ := bytes.Cut(raw[4:], []byte{0})
	s.exe = string(exe)
	words := strings.Split(string(bytes.TrimLeft(rest, "\x00")), "\x00")
	s.args = words[:min(n, len(words))]
	return s, nil
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
