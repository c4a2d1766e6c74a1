package pebble

import (
	"encoding/binary"
	"errors"

	"github.com/callboard/callboard/persistence"
)

// The keys of the database in the format persistence.Layout, each with its stored value. A dot (·) is a zero byte.
// Numbers are big endian, so that keys sort by number.
//
//	r table · id                 version, sort, lists, value.
//	x table · list · sort · id   empty: the position of a row in a list.
//	e log · offset               sequence, subject, payload.
//	o log                        last offset.
//	q log · subject              last sequence.
//	t shard                      token.
//	a                            token of the process that claimed all shards, until the next claim.
//	c commit id                  time, result.
//	d time, commit id            empty: when the result of the commit expires.
//	v                            persistence.Layout.
const (
	rowSpace      = 'r'
	placeSpace    = 'x'
	eventSpace    = 'e'
	offsetSpace   = 'o'
	sequenceSpace = 'q'
	tokenSpace    = 't'
	allSpace      = 'a'
	answerSpace   = 'c'
	deadlineSpace = 'd'
)

var (
	layoutKey  = []byte("v")
	allKey     = []byte{allSpace}
	errCorrupt = errors.New("pebble: a stored row is damaged")
)

func key(space byte, parts ...string) []byte {
	n := 1
	for _, p := range parts {
		n += len(p) + 1
	}
	k := make([]byte, 1, n)
	k[0] = space
	for i, p := range parts {
		if i > 0 {
			k = append(k, 0)
		}
		k = append(k, p...)
	}
	return k
}

func rowKey(k persistence.Key) []byte { return key(rowSpace, k.Table, k.ID) }

func eventKey(log string, offset uint64) []byte {
	return binary.BigEndian.AppendUint64(append(key(eventSpace, log), 0), offset)
}

func encodeNumber(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// row is a stored row: its version, its value and its positions in lists.
type row struct {
	version uint64
	sort    string
	lists   []string
	value   []byte
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendTo appends the encoded row to b.
func (r row) appendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, r.version)
	b = appendText(b, r.sort)
	b = binary.AppendUvarint(b, uint64(len(r.lists)))
	for _, l := range r.lists {
		b = appendText(b, l)
	}
	return append(b, r.value...)
}

// rowReader decodes a stored value field by field. bad is set when a field is missing or damaged.
type rowReader struct {
	b   []byte
	bad bool
}

func (r *rowReader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *rowReader) text() string {
	n := r.number()
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *rowReader) skip() {
	n := r.number()
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return
	}
	r.b = r.b[n:]
}

// decodeValue decodes only the version and the value of a stored row. The value shares memory with b.
func decodeValue(b []byte) (row, error) {
	in := rowReader{b: b}
	r := row{version: in.number()}
	in.skip()
	n := in.number()
	for range min(n, uint64(len(in.b))) {
		in.skip()
	}
	if in.bad || n > uint64(len(b)) {
		return row{}, errCorrupt
	}
	r.value = in.b
	return r, nil
}

// decodeRow decodes a stored row with its lists. The value shares memory with b.
func decodeRow(b []byte) (row, error) {
	in := rowReader{b: b}
	r := row{version: in.number(), sort: in.text()}
	n := in.number()
	if n > uint64(len(in.b)) {
		return row{}, errCorrupt
	}
	for range n {
		r.lists = append(r.lists, in.text())
	}
	if in.bad {
		return row{}, errCorrupt
	}
	r.value = in.b
	return r, nil
}

func encodeEntry(sequence uint64, e persistence.Event) []byte {
	b := make([]byte, 0, len(e.Payload)+len(e.Subject)+12)
	b = binary.AppendUvarint(b, sequence)
	return append(appendText(b, e.Subject), e.Payload...)
}

func decodeEntry(offset uint64, b []byte) (persistence.LogEntry, error) {
	in := rowReader{b: b}
	e := persistence.LogEntry{Offset: offset, Sequence: in.number(), Subject: in.text()}
	if in.bad {
		return persistence.LogEntry{}, errCorrupt
	}
	e.Payload = append([]byte(nil), in.b...)
	return e, nil
}

func encodeAnswer(at uint64, r persistence.Result) []byte {
	b := encodeNumber(at)
	b = binary.AppendUvarint(b, r.Offset)
	for _, list := range [][]uint64{r.Versions, r.Sequences} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, n := range list {
			b = binary.AppendUvarint(b, n)
		}
	}
	return b
}

func decodeAnswer(b []byte) (at uint64, r persistence.Result, err error) {
	if len(b) < 8 {
		return 0, r, errCorrupt
	}
	in := rowReader{b: b[8:]}
	r.Offset = in.number()
	for _, list := range []*[]uint64{&r.Versions, &r.Sequences} {
		n := in.number()
		if n > uint64(len(in.b)) {
			return 0, r, errCorrupt
		}
		*list = make([]uint64, n)
		for i := range *list {
			(*list)[i] = in.number()
		}
	}
	if in.bad {
		return 0, r, errCorrupt
	}
	return binary.BigEndian.Uint64(b), r, nil
}
