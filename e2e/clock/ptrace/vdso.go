//go:build linux && (amd64 || arm64)

package ptrace

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// findVDSO finds the addresses in a process's vDSO that bend needs.
func findVDSO(pid int) (*target, error) {
	from, to, err := vdsoRange(pid)
	if err != nil {
		return nil, err
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return nil, err
	}
	defer func() { _ = mem.Close() }()
	image := make([]byte, to-from)
	if _, err := mem.ReadAt(image, int64(from)); err != nil {
		return nil, fmt.Errorf("reading the vDSO of process %d: %w", pid, err)
	}
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, fmt.Errorf("the vDSO of process %d: %w", pid, err)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("the vDSO of process %d: %w", pid, err)
	}
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == symbol })
	if i < 0 {
		return nil, fmt.Errorf("the vDSO of process %d has no %s: its clock can't be bent", pid, symbol)
	}
	if size, need := symbols[i].Size, len(jumpTo(0)); size < uint64(need) {
		return nil, fmt.Errorf("%s is %d bytes long, and %d are needed: its clock can't be bent", symbol, size, need)
	}
	call := bytes.Index(image, trap)
	if call < 0 {
		return nil, errors.New("the vDSO makes no system call: no clock can be bent")
	}
	return &target{pid: pid, function: from + symbols[i].Value, trap: from + uint64(call)}, nil
}

// vdsoRange returns the address range of a process's vDSO.
func vdsoRange(pid int) (from, to uint64, err error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(maps)) {
		if strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			_, err = fmt.Sscanf(line, "%x-%x", &from, &to)
			return from, to, err
		}
	}
	return 0, 0, fmt.Errorf("process %d has no vDSO: its clock can't be bent", pid)
}
