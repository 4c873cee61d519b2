package inject

import (
	"encoding/binary"
	"syscall"
)

// What the vDSO calls the function, and how long a jump is.
const symbol = "__vdso_clock_gettime"

// trap is the instruction that makes a system call.
var trap = []byte{0x0f, 0x05}

// load is the instruction that loads the page's address, for the routine.
func load(page uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{0x49, 0xba}, page) // movabs $page, %r10
}

// jump is the code that goes to an address, in whatever register is free.
func jump(to uint64) []byte {
	b := binary.LittleEndian.AppendUint64([]byte{0x48, 0xb8}, to) // movabs $to, %rax
	return append(b, 0xff, 0xe0)                                  // jmp *%rax
}

// call makes a stopped thread ready to make a system call.
func call(r *syscall.PtraceRegs, at uint64, number uintptr, args [6]uint64) {
	r.Rip, r.Rax, r.Orig_rax = at, uint64(number), ^uint64(0)
	r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8, r.R9 = args[0], args[1], args[2], args[3], args[4], args[5]
}

func result(r *syscall.PtraceRegs) int64 { return int64(r.Rax) }

func instruction(r *syscall.PtraceRegs) uint64 { return r.Rip }

// forget keeps the kernel from repeating the system call that a thread was stopped in.
func forget(int) error { return nil } // Orig_rax does
