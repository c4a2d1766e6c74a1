package intake

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeText is a text as UTF-8, whatever its byte order mark says that it is:
// UTF-8, or UTF-16 of either order. Without a mark, a zero byte beside the
// first letter betrays UTF-16. What cannot be decoded becomes U+FFFD.
func decodeText(r io.Reader) io.Reader {
	b := bufio.NewReaderSize(r, 64<<10)
	head, _ := b.Peek(3) // an error comes again when it is read
	var order binary.ByteOrder
	switch {
	case len(head) == 3 && string(head) == bom:
		_, _ = b.Discard(3) // they are buffered
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

// utf16Reader turns UTF-16 into UTF-8.
type utf16Reader struct {
	b     *bufio.Reader
	order binary.ByteOrder
	held  rune // the first half of a pair; 0: none
	out   []byte
	err   error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	const atOnce = 4 << 10
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		u.out = u.out[:0]
		for len(u.out) < atOnce && u.err == nil && (len(u.out) == 0 || u.b.Buffered() > 1) {
			u.unit()
		}
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// unit takes one unit of two bytes.
func (u *utf16Reader) unit() {
	var two [2]byte
	if _, err := io.ReadFull(u.b, two[:]); err != nil {
		if u.held != 0 || errors.Is(err, io.ErrUnexpectedEOF) { // half a letter
			u.out = utf8.AppendRune(u.out, utf8.RuneError)
		}
		if u.held, u.err = 0, err; errors.Is(err, io.ErrUnexpectedEOF) {
			u.err = io.EOF
		}
		return
	}
	r := rune(u.order.Uint16(two[:]))
	if u.held != 0 {
		whole := utf16.DecodeRune(u.held, r)
		u.held = 0
		u.out = utf8.AppendRune(u.out, whole)
		if whole != utf8.RuneError {
			return
		}
	}
	if utf16.IsSurrogate(r) {
		if r < 0xdc00 { // the first half
			u.held = r
			return
		}
		r = utf8.RuneError
	}
	u.out = utf8.AppendRune(u.out, r)
}
