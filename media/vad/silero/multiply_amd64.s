#include "textflag.h"

// func multiplyAddAVX2(out, matrix, x *float32, rows, columns int)
TEXT ·multiplyAddAVX2(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ matrix+8(FP), SI
	MOVQ x+16(FP), DX
	MOVQ rows+24(FP), CX
	MOVQ columns+32(FP), BX
	SHLQ $2, BX                     // bytes of a row

rows:
	VXORPS Y0, Y0, Y0               // Y0-Y3: sums of four rows
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	LEAQ   (SI)(BX*1), R8
	LEAQ   (R8)(BX*1), R9
	LEAQ   (R9)(BX*1), R10
	XORQ   AX, AX

columns:
	VMOVUPS     (DX)(AX*1), Y4      // eight values of x
	VFMADD231PS (SI)(AX*1), Y4, Y0
	VFMADD231PS (R8)(AX*1), Y4, Y1
	VFMADD231PS (R9)(AX*1), Y4, Y2
	VFMADD231PS (R10)(AX*1), Y4, Y3
	ADDQ        $32, AX
	CMPQ        AX, BX
	JLT         columns

	VHADDPS      Y1, Y0, Y0
	VHADDPS      Y3, Y2, Y2
	VHADDPS      Y2, Y0, Y0         // per half: one partial sum of each row
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VADDPS       (DI), X0, X0
	VMOVUPS      X0, (DI)

	ADDQ $16, DI
	LEAQ (R10)(BX*1), SI
	SUBQ $4, CX
	JG   rows

	VZEROUPPER
	RET
