package lend

import (
	"errors"
	"net"
	"sync"
	"time"
)

const (
	soundMost = 2 << 20  // bytes that wait to be written: more sound is dropped
	waitMost  = 16 << 20 // the link ends
	writeMost = 256 << 10
	// How long sound, and anything else, waits for others that go with it.
	soundLinger = 8 * time.Millisecond
	linger      = 3 * time.Millisecond
)

// errFull: the other end takes nothing any more.
var errFull = errors.New("lend: the other end takes too little")

// when says how urgent a frame is.
type when uint8

const (
	droppable when = iota // sound, which is worth nothing later
	soon                  // with others of the next milliseconds
	now                   // somebody waits for it
)

// outbox is what waits to be written. Whoever puts something in never waits.
type outbox struct {
	mu     sync.Mutex
	buf    []byte
	clips  []enclosed // within buf
	prompt bool       // there is more than sound
	ended  bool

	begins chan struct{} // something waits
	sooner chan struct{} // it is more than sound
	hurry  chan struct{} // and somebody waits for it
}

// enclosed is sound that is written as it stands behind the first at bytes of the buffer: it is not copied.
type enclosed struct {
	at    int
	sound []byte
}

func newOutbox() *outbox {
	return &outbox{begins: make(chan struct{}, 1), sooner: make(chan struct{}, 1), hurry: make(chan struct{}, 1)}
}

// put adds a frame of two parts, which it copies; false: it was dropped.
func (o *outbox) put(kind byte, session uint32, head, body []byte, w when) bool {
	o.mu.Lock()
	if o.ended || w == droppable && len(o.buf) > soundMost {
		o.mu.Unlock()
		return false
	}
	first := len(o.buf) == 0
	o.buf = appendFrame(o.buf, kind, session, head, body)
	more := w != droppable && !o.prompt
	o.prompt = o.prompt || more
	o.mu.Unlock()
	o.ring(first, more, w)
	return true
}

// enclose adds a frame whose second part is never changed, and is not copied.
func (o *outbox) enclose(kind byte, session uint32, head, sound []byte) {
	o.mu.Lock()
	if o.ended {
		o.mu.Unlock()
		return
	}
	first := len(o.buf) == 0
	start := len(o.buf)
	o.buf = appendFrame(o.buf, kind, session, head, nil)
	putLength(o.buf[start:], headLen+len(head)+len(sound))
	o.clips = append(o.clips, enclosed{len(o.buf), sound})
	more := !o.prompt
	o.prompt = true
	o.mu.Unlock()
	o.ring(first, more, soon)
}

// ring wakes the writer, where it may be asleep.
func (o *outbox) ring(first, more bool, w when) {
	if first {
		poke(o.begins)
	}
	if more {
		poke(o.sooner)
	}
	if w == now {
		poke(o.hurry)
	}
}

func poke(bell chan<- struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// waits is how many bytes do.
func (o *outbox) waits() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.buf)
}

// end lets what waits go; nothing is taken any more.
func (o *outbox) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended, o.buf, o.clips = true, nil, nil
}

// write empties the box into a connection until done; each write may take the limit. It is the only one that writes to it.
func (o *outbox) write(conn net.Conn, limit time.Duration, done <-chan struct{}) error {
	var buf []byte
	var clips []enclosed
	timer := time.NewTimer(linger)
	defer timer.Stop()
	for {
		select {
		case <-o.begins:
		case <-done:
			return nil
		}
		o.gather(timer, done)
		o.mu.Lock()
		buf, o.buf = o.buf, buf[:0]
		clips, o.clips = o.clips, clips[:0]
		o.prompt = false
		o.mu.Unlock()
		if err := writeAll(conn, buf, clips, limit); err != nil {
			return err
		}
		clear(clips)
		if cap(buf) > 2*soundMost { // of a time that is over
			buf = nil
		}
	}
}

// gather lets more come, as long as what waits can.
func (o *outbox) gather(timer *time.Timer, done <-chan struct{}) {
	timer.Reset(soundLinger)
	select {
	case <-timer.C:
		return
	case <-o.hurry:
		return
	case <-done:
		return
	case <-o.sooner:
	}
	timer.Reset(linger)
	select {
	case <-timer.C:
	case <-o.hurry:
	case <-done:
	}
}

func writeAll(conn net.Conn, buf []byte, clips []enclosed, limit time.Duration) error {
	at := 0
	for _, c := range clips {
		if err := writePieces(conn, buf[at:c.at], limit); err != nil {
			return err
		}
		if err := writePieces(conn, c.sound, limit); err != nil {
			return err
		}
		at = c.at
	}
	return writePieces(conn, buf[at:], limit)
}

func writePieces(conn net.Conn, b []byte, limit time.Duration) error {
	for len(b) > 0 {
		n := min(len(b), writeMost)
		if err := conn.SetWriteDeadline(time.Now().Add(limit)); err != nil {
			return err
		}
		if _, err := conn.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
