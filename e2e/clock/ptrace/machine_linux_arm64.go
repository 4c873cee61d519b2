package ptrace

import (
	"encoding/binary"
	"syscall"
	"unsafe"
)

// symbol is the vDSO's name for clock_gettime.
const symbol = "__kernel_clock_gettime"

// trap is the instruction that makes a system call.
var trap = []byte{0x01, 0x00, 0x00, 0xd4} // svc #0

// load returns the code that loads the page's address and the lead of the wall clock for the routine.
func load(page, ahead uint64) []byte {
	const x9, x15, movz, movk = 9, 15, 0xd2800000, 0xf2800000
	var b []byte
	for i, op := range []uint32{movz, movk, movk, movk} {
		b = binary.LittleEndian.AppendUint32(b, op|uint32(i)<<21|uint32(page>>(16*i)&0xffff)<<5|x9)
		b = binary.LittleEndian.AppendUint32(b, op|uint32(i)<<21|uint32(ahead>>(16*i)&0xffff)<<5|x15)
	}
	return b
}

// jumpTo returns the code of a jump to an address.
func jumpTo(to uint64) []byte {
	var b []byte
	for _, op := range []uint32{
		0xd503245f, // bti c: callers may land here
		0x58000070, // ldr x16, 12 bytes on
		0xd61f0200, // br x16
		0xd503201f, // nop
	} {
		b = binary.LittleEndian.AppendUint32(b, op)
	}
	return binary.LittleEndian.AppendUint64(b, to)
}

// setCall sets the registers of a stopped thread for a system call.
func setCall(r *syscall.PtraceRegs, at uint64, number uintptr, args [6]uint64) {
	r.Pc, r.Regs[8] = at, uint64(number)
	copy(r.Regs[:6], args[:])
}

func result(r *syscall.PtraceRegs) int64 { return int64(r.Regs[0]) }

func programCounter(r *syscall.PtraceRegs) uint64 { return r.Pc }

// preventRestart keeps the kernel from restarting the system call of a stopped thread.
func preventRestart(tid int) error {
	const setRegisterSet, systemCall = 0x4205, 0x404 // PTRACE_SETREGSET, NT_ARM_SYSTEM_CALL
	none := int32(-1)
	v := syscall.Iovec{Base: (*byte)(unsafe.Pointer(&none)), Len: 4}
	at := uintptr(unsafe.Pointer(&v))
	if _, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, setRegisterSet, uintptr(tid), systemCall, at, 0,
		0); errno != 0 {
		return errno
	}
	return nil
}
