package transport

import (
	"bufio"
	"bytes"
	"net"
	"time"
)

// MaxStream is the maximum size in bytes of the header section, and also of the body, of a message on a stream.
const MaxStream = maxStream

// finishedStream is a fake connection whose peer has sent all its data.
type finishedStream struct {
	net.Conn
	r *bytes.Reader
}

func (s finishedStream) Read(b []byte) (int, error)      { return s.r.Read(b) }
func (s finishedStream) SetReadDeadline(time.Time) error { return nil }

// SplitStream returns the messages in the bytes of a stream, up to the first error.
func SplitStream(b []byte) (all [][]byte) {
	s := finishedStream{r: bytes.NewReader(b)}
	c := &Connection{Conn: s, pool: &connectionPool{headerTimeout: time.Minute}, r: bufio.NewReaderSize(s, 4096), out: make(chan Outgoing, len(b)), closed: make(chan struct{})}
	for {
		frame, err := c.readFrame()
		if err != nil {
			return all
		}
		all = append(all, frame)
	}
}
