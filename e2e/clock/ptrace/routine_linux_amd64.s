#include "textflag.h"

// The clock of bent programs: what they call instead of the vDSO's clock_gettime. It follows
// the C calling convention of System V, uses no memory but its own stack and the page, and
// works wherever it is copied to.
//
//	DI   the clock that is asked for
//	SI   where to put the answer: seconds and nanoseconds, 8 bytes each
//	R10  the page
//	R11  how far the program's wall clock is ahead of the cluster's, ns
//
// Lines that load the last two are put in front of the copy.
//
// The layout of the page is package shm's. The kernel's system calls leave all registers
// but AX, CX and R11 as they are.
TEXT ·routine(SB), NOSPLIT|NOFRAME, $0
	// Only clocks that tell the time are bent: REALTIME (0), MONOTONIC (1), MONOTONIC_RAW
	// (4), the two coarse ones (5, 6) and BOOTTIME (7). CPU time is what it is.
	CMPL DI, $7
	JHI  other
	MOVL $0xF3, AX
	BTL  DI, AX
	JCC  other
	SUBQ $8, SP
	MOVQ R11, 0(SP)           // a system call overwrites it
	MOVL DI, R8
	MOVQ SI, R9

again:
	MOVQ  0(R10), DX          // the sequence
	TESTQ $1, DX
	JNZ   busy
	SUBQ  $16, SP             // ask the kernel for real monotonic time
	MOVL  $1, DI
	MOVQ  SP, SI
	MOVL  $228, AX            // clock_gettime
	SYSCALL
	MOVQ  0(SP), AX
	IMULQ $1000000000, AX
	ADDQ  8(SP), AX
	ADDQ  $16, SP
	CMPQ  AX, 40(R10)         // until then all who ask wait
	JLT   busy
	SUBQ  8(R10), AX          // since the anchor
	MOVQ  16(R10), DI         // the cluster's monotonic time at the anchor
	MOVQ  24(R10), SI         // the speed
	MOVQ  32(R10), R11        // from monotonic time to wall time
	CMPQ  0(R10), DX          // did the page change in between?
	JNE   again
	MULQ  SI                  // DX:AX, of which the middle 64 bits are the whole nanoseconds
	SHRQ  $32, DX, AX
	ADDQ  DI, AX

	TESTL R8, R8              // REALTIME
	JZ    wall
	CMPL  R8, $5              // REALTIME_COARSE
	JNE   split

wall:
	ADDQ R11, AX
	ADDQ 0(SP), AX

split:
	XORL DX, DX
	MOVL $1000000000, CX
	DIVQ CX
	MOVQ AX, 0(R9)
	MOVQ DX, 8(R9)
	XORL AX, AX
	ADDQ $8, SP
	RET

busy:
	MOVL $24, AX              // sched_yield: the page's writer may wait for this CPU
	SYSCALL
	JMP again

other:
	MOVL $228, AX
	SYSCALL
	RET

	// Here the routine ends; see endMark in routine.go.
	QUAD $0x656e696c626d756c

// func routineAddress() unsafe.Pointer
TEXT ·routineAddress(SB), NOSPLIT, $0-8
	LEAQ ·routine(SB), AX
	MOVQ AX, ret+0(FP)
	RET
