package intake

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const bom = "\xef\xbb\xbf"

// window looks at the next row of a stream before it takes it, so that a row
// that never ends costs MaxRow bytes and not the whole stream.
type window struct{ b *bufio.Reader }

func newWindow(r io.Reader) *window { return &window{bufio.NewReaderSize(r, 2*MaxRow)} }

// more waits for at least one byte beyond the first n; the result is all that
// is there, up to twice MaxRow. io.EOF: there is no more.
func (w *window) more(n int) ([]byte, error) {
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

func (w *window) discard(n int) { _, _ = w.b.Discard(n) } // they are buffered: cannot fail

// line takes the next line without its end; whole is false where it was too
// long and is skipped. The bytes are good until the next call.
func (w *window) line() (text []byte, whole bool, err error) {
	n := 0
	for {
		all, err := w.more(n)
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
			return nil, false, w.skip('\n')
		}
	}
}

// lineEnd is what ends the lines of a text: LF, or CR where the first line has
// no LF behind it.
func (w *window) lineEnd() byte {
	for n := 0; ; {
		all, err := w.more(n)
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
				if all, _ = w.more(n + 1); len(all) > n+1 && all[n+1] != '\n' && all[n+1] != '\r' {
					return '\r'
				}
			}
		}
		if err != nil || n >= MaxRow {
			return '\n'
		}
	}
}

// skip takes the rest of a line, however long.
func (w *window) skip(end byte) error {
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
