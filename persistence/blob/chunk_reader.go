package blob

import (
	"errors"
	"io"
)

// chunkReader reads a sealed blob and decrypts one chunk at a time. A read after a seek loads the chunk of the new
// position.
type chunkReader struct {
	f           source
	cipher      *chunkCipher
	start       int64 // offset of the first chunk in the source
	size        int64 // plain bytes of the blob
	chunks      int64
	at          int64  // position in the plain bytes
	loadedChunk int64  // number of the chunk in plain; -1: none
	plain       []byte // plain bytes of that chunk
	raw         []byte
}

// newReader returns a reader of a sealed blob whose chunks have body bytes. It returns ErrDamaged if that length is
// impossible or the last chunk does not decrypt.
func newReader(f source, b *chunkCipher, start, body int64) (*chunkReader, error) {
	const full = chunkSize + tagSize
	chunks := (body + full - 1) / full
	if body < tagSize || body-(chunks-1)*full < tagSize {
		return nil, ErrDamaged
	}
	r := &chunkReader{f: f, cipher: b, start: start, size: body - chunks*tagSize, chunks: chunks, loadedChunk: -1}
	return r, r.load(chunks - 1) // loads the last chunk, so that a truncated blob is found at once
}

func (r *chunkReader) load(index int64) error {
	if index == r.loadedChunk {
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
	r.loadedChunk = -1
	if err := readAt(r.f, r.raw[:n], r.start+index*full); err != nil {
		return err
	}
	plain, err := r.cipher.aead.Open(r.plain[:0], nonce(index, last), r.raw[:n], r.cipher.name)
	if err != nil {
		return ErrDamaged
	}
	r.plain, r.loadedChunk = plain, index
	return nil
}

// Read implements io.Reader.
func (r *chunkReader) Read(p []byte) (int, error) {
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

// Seek implements io.Seeker.
func (r *chunkReader) Seek(offset int64, whence int) (int64, error) {
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

// Close implements io.Closer.
func (r *chunkReader) Close() error { return r.f.Close() }
