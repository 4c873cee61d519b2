#include "textflag.h"

// The clock of bent programs; see routine_linux_amd64.s. It follows the procedure call
// standard of AArch64:
//
//	R0  the clock that is asked for
//	R1  where to put the answer: seconds and nanoseconds, 8 bytes each
//	R9  the page
//	R15  how far the program's wall clock is ahead of the cluster's, ns
//
// Lines that load the last two are put in front of the copy.
//
// The kernel's system calls leave all registers but R0 as they are. The CPU may change the
// order of loads, hence the barriers.
TEXT ·routine(SB), NOSPLIT|NOFRAME, $0
	CMPW $7, R0
	BHI  other
	MOVD $0xF3, R10
	LSR  R0, R10, R10
	TBZ  $0, R10, other
	MOVW R0, R11
	MOVD R1, R12

again:
	LDAR (R9), R13            // the sequence
	TBNZ $0, R13, busy
	SUB  $16, RSP             // ask the kernel for real monotonic time
	MOVD $1, R0
	MOVD RSP, R1
	MOVD $113, R8             // clock_gettime
	SVC
	MOVD 0(RSP), R2
	MOVD 8(RSP), R3
	ADD  $16, RSP
	MOVD $1000000000, R4
	MUL  R4, R2, R2
	ADD  R3, R2, R2
	MOVD 40(R9), R3           // until then all who ask wait
	CMP  R3, R2
	BLT  busy
	MOVD 8(R9), R3
	MOVD 16(R9), R5           // the cluster's monotonic time at the anchor
	MOVD 24(R9), R6           // the speed
	MOVD 32(R9), R7           // from monotonic time to wall time
	DMB  $9                   // loads before this come before those after it
	MOVD (R9), R14
	CMP  R13, R14             // did the page change in between?
	BNE  again
	SUB  R3, R2, R2           // since the anchor
	MUL  R6, R2, R10
	UMULH R6, R2, R14
	EXTR $32, R10, R14, R2    // the middle 64 bits are the whole nanoseconds
	ADD  R5, R2, R2

	CBZW R11, wall            // REALTIME
	CMPW $5, R11              // REALTIME_COARSE
	BNE  split

wall:
	ADD R7, R2, R2
	ADD R15, R2, R2

split:
	UDIV R4, R2, R3
	MSUB R4, R2, R3, R5       // R2 - R3*R4
	MOVD R3, 0(R12)
	MOVD R5, 8(R12)
	MOVD $0, R0
	RET

busy:
	MOVD $124, R8             // sched_yield: the page's writer may wait for this CPU
	SVC
	B    again

other:
	MOVD $113, R8
	SVC
	RET

	// Here the routine ends; see endMark in routine.go.
	WORD $0x626d756c
	WORD $0x656e696c

// func routineAddress() unsafe.Pointer
TEXT ·routineAddress(SB), NOSPLIT, $0-8
	MOVD $·routine(SB), R0
	MOVD R0, ret+0(FP)
	RET
