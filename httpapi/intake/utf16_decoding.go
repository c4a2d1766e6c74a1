package intake

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeText converts a text to UTF-8. A byte order mark selects UTF-8 or UTF-16. Without a mark, a zero byte beside
// the first character selects UTF-16. Invalid characters become U+FFFD.
func decodeText(r io.Reader) io.Reader {
	b := bufio.NewReaderSize(r, 64<<10)
	head, _ := b.Peek(3) // an error is ignored here, because the next read returns it again
	var order binary.ByteOrder
	switch {
	case len(head) == 3 && string(head) == bom:
		_, _ = b.Discard(3) // the bytes are buffered: Discard cannot fail
		return b
	case len(head) >= 2 && head[0] == 0xff && head[1] == 0xfe:
		_, _ = b.Discard(2)
		order = binary.LittleEndian
	case len(head) >= 2 && head[0] == 0xfe && head[1] == 0xff:
		_, _ = b.Discard(2)
		order = binary.BigEndian
	case len(head) >= 2 && head[0] != 0 && head[1] == 0:
		order = binary.LittleEndian
	case len(head) >= 2 && head[0] == 0 && head[1] != 0:
		order = binary.BigEndian
	default:
		return b
	}
	return &utf16Reader{b: b, order: order}
}

// utf16Reader converts UTF-16 to UTF-8.
type utf16Reader struct {
	b             *bufio.Reader
	order         binary.ByteOrder
	highSurrogate rune // the first half of a surrogate pair; 0: none
	out           []byte
	err           error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	const atOnce = 4 << 10
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		u.out = u.out[:0]
		for len(u.out) < atOnce && u.err == nil && (len(u.out) == 0 || u.b.Buffered() > 1) {
			u.readUnit()
		}
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// readUnit reads one 16-bit code unit.
func (u *utf16Reader) readUnit() {
	var two [2]byte
	if _, err := io.ReadFull(u.b, two[:]); err != nil {
		if u.highSurrogate != 0 || errors.Is(err, io.ErrUnexpectedEOF) { // an incomplete surrogate pair or code unit
			u.out = utf8.AppendRune(u.out, utf8.RuneError)
		}
		if u.highSurrogate, u.err = 0, err; errors.Is(err, io.ErrUnexpectedEOF) {
			u.err = io.EOF
		}
		return
	}
	r := rune(u.order.Uint16(two[:]))
	if u.highSurrogate != 0 {
		whole := utf16.DecodeRune(u.highSurrogate, r)
		u.highSurrogate = 0
		u.out = utf8.AppendRune(u.out, whole)
		if whole != utf8.RuneError {
			return
		}
	}
	if utf16.IsSurrogate(r) {
		if r < 0xdc00 { // the first half of a surrogate pair
			u.highSurrogate = r
			return
		}
		r = utf8.RuneError
	}
	u.out = utf8.AppendRune(u.out, r)
}
