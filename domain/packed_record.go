package domain

import (
	"encoding/binary"
	"time"
)

// PackedRecord is a record that says itself what is stored of it in place of JSON: of
// what is written often, in a fourth of the bytes.
type PackedRecord interface {
	// AppendPacked adds all of the record that its key does not say.
	AppendPacked(b []byte) []byte
	// TakePacked fills the record by its key and what AppendPacked added, which
	// it does not keep. false: it was something else, and the record is as it
	// was.
	ReadPacked(k Key, packed []byte) bool
}

func packText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// packTime adds a moment by the seconds since another one, and nanoseconds.
func packTime(b []byte, t time.Time, since int64) []byte {
	b = binary.AppendVarint(b, t.Unix()-since)
	return binary.AppendUvarint(b, uint64(t.Nanosecond())) //nolint:gosec // never negative
}

// unpacker takes apart what was packed. The first surprise stays. The texts that
// it gives share one copy.
type unpacker struct {
	rest   []byte
	all    string // what rest ends
	failed bool
}

func newUnpacker(b []byte) unpacker { return unpacker{rest: b, all: string(b)} }

// end says whether this was all, and nothing was a surprise.
func (u *unpacker) end() bool { return !u.failed && len(u.rest) == 0 }

// skip goes on by what was read; 0 or less: nothing was.
func (u *unpacker) skip(size int) (ok bool) {
	if size <= 0 || u.failed {
		u.failed = true
		return false
	}
	u.rest = u.rest[size:]
	return true
}

func (u *unpacker) count() uint64 {
	n, size := binary.Uvarint(u.rest)
	if !u.skip(size) {
		return 0
	}
	return n
}

func (u *unpacker) int() int64 {
	n, size := binary.Varint(u.rest)
	if !u.skip(size) {
		return 0
	}
	return n
}

func (u *unpacker) text() string {
	n := u.count()
	if n > uint64(len(u.rest)) {
		u.failed = true
	}
	if u.failed || n == 0 {
		return ""
	}
	at := len(u.all) - len(u.rest)
	u.rest = u.rest[n:]
	return u.all[at : at+int(n)] //nolint:gosec // within the text
}

// time is a moment that packTime added.
func (u *unpacker) time(since int64) time.Time {
	sec := u.int()
	nano := u.count()
	if nano >= uint64(time.Second) {
		u.failed = true
	}
	if u.failed {
		return time.Time{}
	}
	return time.Unix(since+sec, int64(nano)).UTC() //nolint:gosec // below a second
}
