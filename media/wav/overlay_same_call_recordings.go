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

// overlayFrame is the number of samples per channel that Overlay compares at a time: 20 ms.
const overlayFrame = 160

// Overlay merges two recordings of the same call that start at the same time. It writes the first recording. It
// writes the second while both channels of the first are silent, or after the first has ended. taken is the duration
// from the second. Both recordings must be finished and have two channels and the same format. Otherwise the error wraps
// ErrFormat.
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
		return 0, fmt.Errorf("%w: the two recordings have different sample formats", ErrFormat)
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

// finishedFile is a finished recording, positioned at its audio.
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
		return nil, fmt.Errorf("%w: not a finished recording of two channels at 8 kHz", ErrFormat)
	}
	f.Reader = io.LimitReader(r, int64(f.length))
	return f, nil
}
