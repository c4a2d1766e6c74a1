package webhook

import "net"

// recordHead is the length of a TLS record's head: its kind, a version, and the
// length of what follows in two bytes.
const recordHead = 5

// records is a connection beneath TLS that knows where records end: TLS reads
// ahead, and does not tell of a record of which it has but a part.
type records struct {
	net.Conn
	head [recordHead]byte
	got  int // of the head
	left int // of the record behind its head
}

func (r *records) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.pass(p[:n])
	return n, err //nolint:wrapcheck // it is the connection
}

// pass goes over what was read.
func (r *records) pass(b []byte) {
	for len(b) > 0 {
		if r.left > 0 {
			n := min(r.left, len(b))
			r.left, b = r.left-n, b[n:]
			continue
		}
		n := copy(r.head[r.got:], b)
		r.got, b = r.got+n, b[n:]
		if r.got == recordHead {
			r.got, r.left = 0, int(r.head[3])<<8|int(r.head[4])
		}
	}
}

// whole says whether the last record was read to its end.
func (r *records) whole() bool { return r.got == 0 && r.left == 0 }
