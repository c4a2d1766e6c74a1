//go:build failpoints && linux

#include "textflag.h"

// clock is called as the kernel's clock_gettime is: the clock in DI, where to
// write the time in SI, on a stack of the system's size.
TEXT ·clock(SB),NOSPLIT|NOFRAME,$0-0
	PUSHQ	DI
	PUSHQ	SI
	SUBQ	$8, SP
	MOVQ	·originalClock(SB), AX
	CALL	AX
	ADDQ	$8, SP
	POPQ	SI
	POPQ	DI
	CMPL	DI, $0 // CLOCK_REALTIME
	JNE	done
	MOVQ	·clockShift(SB), CX
	ADDQ	CX, 0(SI)
done:
	RET

// func shiftedClock() uintptr
TEXT ·shiftedClock(SB),NOSPLIT,$0-8
	LEAQ	·clock(SB), AX
	MOVQ	AX, ret+0(FP)
	RET
