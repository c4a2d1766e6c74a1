package domain

import (
	"encoding/binary"
	"time"
)

// PackedRecord is a record with a binary encoding that the store uses instead of JSON. The encoding reduces the size
// of frequently written records to a quarter.
type PackedRecord interface {
	// AppendPacked appends the binary encoding of all fields that the store key does not contain.
	AppendPacked(b []byte) []byte
	// ReadPacked sets the record from its store key and the output of AppendPacked. It does not keep the slice. For
	// invalid input it returns false and leaves the record unchanged.
	ReadPacked(k Key, packed []byte) bool
}

func packText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// packTime appends a time as seconds relative to the Unix time since, and nanoseconds.
func packTime(b []byte, t time.Time, since int64) []byte {
	b = binary.AppendVarint(b, t.Unix()-since)
	return binary.AppendUvarint(b, uint64(t.Nanosecond())) //nolint:gosec // never negative
}

// unpacker decodes packed values. After the first error all further reads fail. The strings that it returns share
// one copy of the input.
type unpacker struct {
	rest   []byte
	all    string // the whole input; rest is the part that was not read
	failed bool
}

func newUnpacker(b []byte) unpacker { return unpacker{rest: b, all: string(b)} }

// end reports whether the whole input was read without an error.
func (u *unpacker) end() bool { return !u.failed && len(u.rest) == 0 }

// skip advances the input by size bytes. A size of 0 or less is an error, because it is the result of a failed read.
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

// time reads a time that packTime wrote.
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
