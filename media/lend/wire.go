package lend

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"
)

// A frame is a length of four bytes, of what follows: a kind, the number of a session, the payload.
const (
	lengthLen = 4
	headLen   = 5 // kind and number
	readRoom  = 64 << 10
)

// frame is what came. Its payload is overwritten by the next one.
type frame struct {
	kind    byte
	session uint32
	payload []byte
}

// reader takes frames off a connection.
type reader struct {
	in   *bufio.Reader
	most int
	skip int // bytes of the last frame, which still stand in the buffer
	big  []byte
}

func newReader(conn net.Conn) *reader {
	return &reader{in: bufio.NewReaderSize(conn, readRoom), most: helloMost}
}

// next is the next frame; it waits for it.
func (r *reader) next() (f frame, err error) {
	if r.skip > 0 {
		_, _ = r.in.Discard(r.skip) // it is buffered
		r.skip = 0
	}
	head, err := r.in.Peek(lengthLen + headLen)
	if err != nil {
		return frame{}, err
	}
	n := int(binary.BigEndian.Uint32(head))
	if n < headLen || n > r.most {
		return frame{}, fmt.Errorf("%w: a frame of %d bytes", ErrProtocol, n)
	}
	f.kind, f.session = head[4], binary.BigEndian.Uint32(head[5:])
	if all := lengthLen + n; all <= readRoom {
		whole, errPeek := r.in.Peek(all)
		if errPeek != nil {
			return frame{}, errPeek
		}
		r.skip, f.payload = all, whole[lengthLen+headLen:]
		return f, nil
	}
	_, _ = r.in.Discard(lengthLen + headLen)
	if n -= headLen; cap(r.big) < n {
		r.big = make([]byte, n)
	}
	f.payload = r.big[:n]
	_, err = io.ReadFull(r.in, f.payload)
	return f, err
}

// putLength sets the length of a frame.
func putLength(b []byte, n int) {
	binary.BigEndian.PutUint32(b, uint32(n)) //nolint:gosec // bounded by whoever sends
}

// appendFrame writes a frame of two parts.
func appendFrame(b []byte, kind byte, session uint32, head, body []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(headLen+len(head)+len(body))) //nolint:gosec // bounded by whoever sends
	b = append(b, kind)
	b = binary.BigEndian.AppendUint32(b, session)
	b = append(b, head...)
	return append(b, body...)
}

// send writes one frame at once; for connections that nobody else writes to.
func send(conn net.Conn, kind byte, payload any, limit time.Duration) error {
	b, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	return sendRaw(conn, kind, b, limit)
}

func sendRaw(conn net.Conn, kind byte, payload []byte, limit time.Duration) error {
	if err := conn.SetWriteDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	_, err := conn.Write(appendFrame(nil, kind, 0, nil, payload))
	return err
}

// expect reads one frame of a kind.
func expect(conn net.Conn, r *reader, kind byte, into any, limit time.Duration) error {
	if err := conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	f, err := r.next()
	if err != nil {
		return err
	}
	if f.kind != kind {
		return fmt.Errorf("%w: kind %d in place of %d", ErrProtocol, f.kind, kind)
	}
	if into == nil {
		return nil
	}
	if err = json.Unmarshal(f.payload, into); err != nil {
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return nil
}

// fields takes numbers from the front of a payload; short says that there were too few bytes.
type fields struct {
	rest  []byte
	short bool
}

func (f *fields) u8() byte {
	if len(f.rest) < 1 {
		f.short = true
		return 0
	}
	v := f.rest[0]
	f.rest = f.rest[1:]
	return v
}

func (f *fields) u32() uint32 {
	if len(f.rest) < 4 {
		f.short, f.rest = true, nil
		return 0
	}
	v := binary.BigEndian.Uint32(f.rest)
	f.rest = f.rest[4:]
	return v
}

func (f *fields) u64() uint64 { return uint64(f.u32())<<32 | uint64(f.u32()) }

// numbers are the front of a payload, made without memory of their own.
type numbers struct {
	b [24]byte
	n int
}

func (m *numbers) u8(v byte) *numbers {
	m.b[m.n] = v
	m.n++
	return m
}

func (m *numbers) u32(v uint32) *numbers {
	binary.BigEndian.PutUint32(m.b[m.n:], v)
	m.n += 4
	return m
}

func (m *numbers) u64(v uint64) *numbers {
	binary.BigEndian.PutUint64(m.b[m.n:], v)
	m.n += 8
	return m
}

func (m *numbers) bytes() []byte { return m.b[:m.n] }
