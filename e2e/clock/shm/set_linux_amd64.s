#include "textflag.h"

// func set(l *layout, speed uint64, ahead, before int64) bool
//
// While the sequence is odd, whoever asks for the time waits, this process's Go scheduler
// included. So nothing may interrupt this. Go's scheduler interrupts functions in Go, but
// none in assembly.
TEXT ·set(SB), NOSPLIT, $16-33
	MOVQ l+0(FP), R8
	MOVQ speed+8(FP), R9
	MOVQ ahead+16(FP), R12
	MOVQ before+24(FP), R13

	LOCK
	INCQ 0(R8)                // the sequence
	MOVL $1, DI               // real monotonic time
	LEAQ now-16(SP), SI
	MOVL $228, AX             // clock_gettime
	SYSCALL
	MOVQ  now-16(SP), AX
	IMULQ $1000000000, AX
	ADDQ  now-8(SP), AX
	MOVQ  AX, R10
	CMPQ  R10, R13
	SETLT ret+32(FP)
	JGE   done                // too late: nothing changes
	SUBQ  8(R8), AX           // since the last anchor
	MULQ  24(R8)              // at the speed until now
	SHRQ  $32, DX, AX
	ADDQ  16(R8), AX
	ADDQ  R12, AX
	MOVQ  R10, 8(R8)
	MOVQ  AX, 16(R8)
	MOVQ  R9, 24(R8)
	MOVQ  $0, 40(R8)          // the hold is over

done:
	LOCK
	INCQ 0(R8)
	RET
