package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOnlyWhatTheProgramReadsOfItsFileIsGivenBack(t *testing.T) {
	t.Parallel()
	table := `00400000-01beb000 r-xp 00001000 fe:00 131      /opt/callboard
Rss:               23544 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
01beb000-033cf000 r--p 017ec000 fe:00 131      /opt/callboard
Anonymous:             0 kB
033cf000-033d0000 r--p 02fcf000 fe:00 131      /opt/callboard
Anonymous:             4 kB
033d0000-035a4000 rw-p 02fd0000 fe:00 131      /opt/callboard
Anonymous:             0 kB
035a4000-055f2000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7f457dad6000-7f457dc00000 r--p 00000000 fe:00 77      /usr/lib/libc.so.6
Anonymous:             0 kB
7ffd1000-7ffd2000 r-xp 00000000 00:00 0      [vdso]
Anonymous:             0 kB
nonsense
`
	assert.Equal(t, []mapping{{0x400000, 0x17eb000}, {0x1beb000, 0x17e4000}}, readOnly([]byte(table), "/opt/callboard"))
	assert.Positive(t, dropPages(), "and the program goes on")
}
