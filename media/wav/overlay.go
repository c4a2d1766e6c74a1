package wav

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/callboard/callboard/media/g711"
)

// overlayFrame is what is taken from one of two recordings at a time, in frames
// of all channels: 20 ms.
const overlayFrame = 160

// Overlay writes a recording of ours, and what another one of the same call has
// where the first is silent in both channels, or over: each counts from the
// beginning of the call. It says for how long something was taken from the second.
// Both are finished, of two channels and of one format, or it is ErrFormat.
func Overlay(into io.Writer, first, second io.Reader) (taken time.Duration, err error) {
	a, err := finished(first)
	if err != nil {
		return 0, err
	}
	b, err := finished(second)
	if err != nil {
		return 0, err
	}
	if a.format != b.format {
		return 0, fmt.Errorf("%w: one of two is written otherwise", ErrFormat)
	}
	out := bufio.NewWriterSize(into, 64<<10)
	if _, err = out.Write(a.format.Header(2, max(a.length, b.length))); err != nil {
		return 0, err
	}
	width := 2 * a.format.Bytes()
	size := overlayFrame * width
	quiet := bytes.Repeat([]byte{g711.MuSilence}, size)
	if a.format == PCM16 {
		clear(quiet)
	}
	one, other := make([]byte, size), make([]byte, size)
	for left := int(max(a.length, b.length)); left > 0; left -= size {
		for _, r := range []struct {
			of  *finishedFile
			buf []byte
		}{{a, one}, {b, other}} {
			copy(r.buf, quiet)
			if _, err = io.ReadFull(r.of, r.buf); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return taken, err
			}
		}
		frame := one
		if bytes.Equal(one, quiet) && !bytes.Equal(other, quiet) {
			frame = other
			taken += overlayFrame * time.Second / 8000
		}
		if _, err = out.Write(frame[:min(size, left)]); err != nil {
			return taken, err
		}
	}
	return taken, out.Flush()
}

// finishedFile is the sound of a file of ours.
type finishedFile struct {
	io.Reader
	format Format
	length uint32 // in bytes
}

func finished(r io.Reader) (*finishedFile, error) {
	r = bufio.NewReaderSize(r, 64<<10)
	var h [HeaderLen]byte
	if _, err := io.ReadFull(r, h[:]); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("%w: no header", ErrFormat)
	} else if err != nil {
		return nil, err
	}
	f := &finishedFile{length: binary.LittleEndian.Uint32(h[54:])}
	if binary.LittleEndian.Uint16(h[20:]) == tagPCM {
		f.format = PCM16
	}
	if f.length == Unknown || !bytes.Equal(h[:], f.format.Header(2, f.length)) {
		return nil, fmt.Errorf("%w: not a finished recording of ours", ErrFormat)
	}
	f.Reader = io.LimitReader(r, int64(f.length))
	return f, nil
}
