#include "textflag.h"

// func set(l *layout, speed uint64, ahead, before int64) bool
//
// set_linux_amd64.s says why this is assembly.
TEXT ·set(SB), NOSPLIT, $16-33
	MOVD l+0(FP), R9
	MOVD speed+8(FP), R10
	MOVD ahead+16(FP), R11
	MOVD before+24(FP), R13

	MOVD (R9), R12            // the sequence
	ADD  $1, R12
	MOVD R12, (R9)
	DMB  $11                  // all before this is seen before what comes after it
	MOVD $1, R0               // real monotonic time
	MOVD $now-16(SP), R1
	MOVD $113, R8             // clock_gettime
	SVC
	MOVD now-16(SP), R2
	MOVD now-8(SP), R3
	MOVD $1000000000, R4
	MUL  R4, R2, R2
	ADD  R3, R2, R2
	CMP  R13, R2
	CSET LT, R3
	MOVB R3, ret+32(FP)
	BGE  done                 // too late: nothing changes
	MOVD 8(R9), R3
	MOVD 24(R9), R5
	SUB  R3, R2, R3           // since the last anchor
	MUL  R5, R3, R6           // at the speed until now
	UMULH R5, R3, R7
	EXTR $32, R6, R7, R3
	MOVD 16(R9), R5
	ADD  R5, R3, R3
	ADD  R11, R3, R3
	MOVD R2, 8(R9)
	MOVD R3, 16(R9)
	MOVD R10, 24(R9)
	MOVD ZR, 40(R9)           // the hold is over

done:
	ADD  $1, R12
	STLR R12, (R9)
	RET
