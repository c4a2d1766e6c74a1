package blob

import (
	"errors"
	"io"
)

// reader opens chunk after chunk, and the right one after a seek.
type reader struct {
	f      source
	box    *box
	start  int64 // of the first chunk in the file
	size   int64 // of the plain text
	chunks int64
	at     int64  // in the plain text
	have   int64  // chunk in plain; -1: none
	plain  []byte // of chunk have
	raw    []byte
}

// newReader checks that body bytes of chunks can be a whole object.
func newReader(f source, b *box, start, body int64) (*reader, error) {
	const full = chunkSize + tagSize
	chunks := (body + full - 1) / full
	if body < tagSize || body-(chunks-1)*full < tagSize {
		return nil, ErrDamaged
	}
	r := &reader{f: f, box: b, start: start, size: body - chunks*tagSize, chunks: chunks, have: -1}
	return r, r.load(chunks - 1) // a file that was cut is found out at once
}

func (r *reader) load(index int64) error {
	if index == r.have {
		return nil
	}
	const full = chunkSize + tagSize
	n := int64(full)
	last := index == r.chunks-1
	if last {
		n = r.size - index*chunkSize + tagSize
	}
	if r.raw == nil {
		r.raw = make([]byte, full)
	}
	r.have = -1
	if err := readAt(r.f, r.raw[:n], r.start+index*full); err != nil {
		return err
	}
	plain, err := r.box.aead.Open(r.plain[:0], nonce(index, last), r.raw[:n], r.box.name)
	if err != nil {
		return ErrDamaged
	}
	r.plain, r.have = plain, index
	return nil
}

// Read is io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.at >= r.size {
		return 0, io.EOF
	}
	index := r.at / chunkSize
	if err := r.load(index); err != nil {
		return 0, err
	}
	n := copy(p, r.plain[r.at-index*chunkSize:])
	r.at += int64(n)
	return n, nil
}

// Seek is io.Seeker.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return 0, errors.New("blob: seek before the start")
	}
	r.at = offset
	return offset, nil
}

// Close is io.Closer.
func (r *reader) Close() error { return r.f.Close() }
