package intake

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const bom = "\xef\xbb\xbf"

// window is a buffered reader that can look at a whole row before it consumes the row. It buffers a bounded number of
// bytes, even if a row has no end.
type window struct{ b *bufio.Reader }

func newWindow(r io.Reader) *window { return &window{bufio.NewReaderSize(r, 2*MaxRow)} }

// peekBeyond waits for at least one byte after the first n. It returns all buffered bytes, up to twice MaxRow.
// io.EOF means that no more bytes follow.
func (w *window) peekBeyond(n int) ([]byte, error) {
	_, err := w.b.Peek(n + 1)
	all, _ := w.b.Peek(w.b.Buffered())
	if len(all) > n {
		return all, nil
	}
	if err == nil || errors.Is(err, bufio.ErrBufferFull) {
		err = io.EOF
	}
	return all, err
}

func (w *window) discard(n int) { _, _ = w.b.Discard(n) } // the bytes are buffered: Discard cannot fail

// readLine returns the next line without its end. whole is false for a line that is too long, which is skipped. The
// bytes are valid until the next call.
func (w *window) readLine() (text []byte, whole bool, err error) {
	n := 0
	for {
		all, err := w.peekBeyond(n)
		if err != nil {
			if len(all) == 0 || !errors.Is(err, io.EOF) {
				return nil, false, err
			}
			w.discard(len(all))
			return all, true, nil
		}
		if i := bytes.IndexByte(all[n:], '\n'); i >= 0 && n+i < MaxRow {
			w.discard(n + i + 1)
			return all[:n+i], true, nil
		}
		if n = len(all); n >= MaxRow {
			return nil, false, w.skipLine('\n')
		}
	}
}

// lineEnd returns the byte that ends the lines of the text: LF, or CR if the first line ends in CR without LF.
func (w *window) lineEnd() byte {
	for n := 0; ; {
		all, err := w.peekBeyond(n)
		for ; n < len(all); n++ {
			switch {
			case all[n] == '\n':
				return '\n'
			case all[n] != '\r':
			case n+1 < len(all):
				if all[n+1] != '\n' && all[n+1] != '\r' {
					return '\r'
				}
			case err == nil:
				if all, _ = w.peekBeyond(n + 1); len(all) > n+1 && all[n+1] != '\n' && all[n+1] != '\r' {
					return '\r'
				}
			}
		}
		if err != nil || n >= MaxRow {
			return '\n'
		}
	}
}

// skipLine discards the remainder of a line, including its last byte end.
func (w *window) skipLine(end byte) error {
	for {
		_, err := w.b.ReadSlice(end)
		switch {
		case err == nil, errors.Is(err, io.EOF):
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}
