package domain

import (
	"strconv"
	"strings"
	"time"
)

// JSONTaker is a record that reads back the JSON that it writes itself, for
// less than a reader of any JSON takes.
type JSONTaker interface {
	// TakeJSON fills the record. false: the text has another shape, and the
	// record is as it was.
	TakeJSON(text []byte) bool
}

// JSONFields reads an object field by field, in the order in which a JSONObject
// wrote them. The first surprise stays: a field that is missing or of another
// kind, and a text with an escape in it. The texts that it gives share one copy.
type JSONFields struct {
	rest string
	more bool // not the first field
	bad  bool
}

// TakeObject begins to read an object.
func TakeObject(text []byte) JSONFields {
	f := JSONFields{rest: string(text)}
	f.token("{")
	return f
}

// End says whether the object ends here, and nothing was a surprise.
func (f *JSONFields) End() bool { return !f.bad && f.rest == "}" }

func (f *JSONFields) token(want string) {
	rest, ok := strings.CutPrefix(f.rest, want)
	f.rest, f.bad = rest, f.bad || !ok
}

// has goes behind a field's name, if it comes now.
func (f *JSONFields) has(name string) bool {
	rest := f.rest
	if f.more {
		if rest == "" || rest[0] != ',' {
			return false
		}
		rest = rest[1:]
	}
	n := len(name)
	if len(rest) < n+3 || rest[0] != '"' || rest[1:1+n] != name || rest[1+n] != '"' || rest[2+n] != ':' {
		return false
	}
	f.rest, f.more = rest[3+n:], true
	return true
}

func (f *JSONFields) need(name string) {
	if !f.has(name) {
		f.bad = true
	}
}

// quoted is the text that comes now.
func (f *JSONFields) quoted() string {
	if f.rest == "" || f.rest[0] != '"' {
		f.bad = true
		return ""
	}
	end := strings.IndexByte(f.rest[1:], '"')
	if end < 0 {
		f.bad = true
		return ""
	}
	text := f.rest[1 : 1+end]
	f.bad = f.bad || strings.IndexByte(text, '\\') >= 0
	f.rest = f.rest[2+end:]
	return text
}

// bare is the number or word that comes now.
func (f *JSONFields) bare() string {
	end := strings.IndexAny(f.rest, ",}")
	if end < 0 {
		f.bad = true
		return ""
	}
	text := f.rest[:end]
	f.rest = f.rest[end:]
	return text
}

// Text reads a text.
func (f *JSONFields) Text(name string) string {
	f.need(name)
	return f.quoted()
}

// Word reads a text that is left out where it is empty.
func (f *JSONFields) Word(name string) string {
	if !f.has(name) {
		return ""
	}
	return f.quoted()
}

// Int reads a number.
func (f *JSONFields) Int(name string) int64 {
	f.need(name)
	n, err := strconv.ParseInt(f.bare(), 10, 64)
	f.bad = f.bad || err != nil
	return n
}

// Count reads a number that is never negative.
func (f *JSONFields) Count(name string) uint64 {
	f.need(name)
	n, err := strconv.ParseUint(f.bare(), 10, 64)
	f.bad = f.bad || err != nil
	return n
}

// Set reads a truth value that is left out where it is false.
func (f *JSONFields) Set(name string) bool {
	if !f.has(name) {
		return false
	}
	is, err := strconv.ParseBool(f.bare())
	f.bad = f.bad || err != nil
	return is
}

// Time reads a point in time.
func (f *JSONFields) Time(name string) time.Time {
	f.need(name)
	return f.time()
}

// When reads a point in time that is left out where it is not known.
func (f *JSONFields) When(name string) *time.Time {
	if !f.has(name) {
		return nil
	}
	t := f.time()
	return &t
}

func (f *JSONFields) time() time.Time {
	t, err := time.Parse(time.RFC3339Nano, f.quoted())
	f.bad = f.bad || err != nil
	return t
}
