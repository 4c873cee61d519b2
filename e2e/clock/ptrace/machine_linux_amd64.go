package ptrace

import (
	"encoding/binary"
	"syscall"
)

// symbol is the vDSO's name for clock_gettime.
const symbol = "__vdso_clock_gettime"

// trap is the instruction that makes a system call.
var trap = []byte{0x0f, 0x05}

// load returns the code that loads the page's address and the lead of the wall clock for the routine.
func load(page, ahead uint64) []byte {
	b := binary.LittleEndian.AppendUint64([]byte{0x49, 0xba}, page)       // movabs $page, %r10
	return binary.LittleEndian.AppendUint64(append(b, 0x49, 0xbb), ahead) // movabs $ahead, %r11
}

// jumpTo returns the code of a jump to an address.
func jumpTo(to uint64) []byte {
	b := binary.LittleEndian.AppendUint64([]byte{0x48, 0xb8}, to) // movabs $to, %rax
	return append(b, 0xff, 0xe0)                                  // jmp *%rax
}

// setCall sets the registers of a stopped thread for a system call.
func setCall(r *syscall.PtraceRegs, at uint64, number uintptr, args [6]uint64) {
	r.Rip, r.Rax, r.Orig_rax = at, uint64(number), ^uint64(0)
	r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8, r.R9 = args[0], args[1], args[2], args[3], args[4], args[5]
}

func result(r *syscall.PtraceRegs) int64 { return int64(r.Rax) }

func programCounter(r *syscall.PtraceRegs) uint64 { return r.Rip }

// preventRestart keeps the kernel from restarting the system call of a stopped thread.
func preventRestart(int) error { return nil } // Orig_rax in setCall does it
