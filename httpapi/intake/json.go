package intake

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/callboard/callboard/domain"
)

// JSON reads a list of contacts, or an object with the list in "contacts", one
// contact at a time however long the list is. An error of r, and a text that is
// no JSON, end the rows.
func JSON(r io.Reader) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		l := &list{w: newWindow(decodeText(r)), yield: yield}
		if err := l.read(); err != nil && !errors.Is(err, errStopped) {
			yield(domain.RawContact{}, err)
		}
	}
}

var (
	errStopped = errors.New("the reader wants no more")
	errNoJSON  = &domain.Error{Code: domain.CodeInvalidRequest, Message: "The body is not valid JSON."}
)

// list is a JSON text while it is read.
type list struct {
	w     *window
	yield func(domain.RawContact, error) bool
	n     int // contacts so far
	found bool
}

func (l *list) read() error {
	first, err := l.next()
	switch {
	case err != nil:
		return incompleteError(err)
	case first == '[':
		err = l.contacts()
	case first == '{':
		err = l.object()
	default:
		return wrongKind("the body", "an object with contacts", first)
	}
	if err != nil {
		return err
	}
	if _, err = l.next(); err == nil {
		return errNoJSON // something follows
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	if !l.found {
		return listError("is required: the list of contacts")
	}
	return nil
}

func listError(why string) error {
	var p domain.Problems
	p.Add("contacts", domain.CodeValidation, "%s", why)
	return p.Err()
}

// wrongKind says what stands where something else should.
func wrongKind(what, should string, first byte) error {
	kind := map[byte]string{'{': "an object", '"': "a string", 't': "a boolean", 'f': "a boolean", 'n': "null"}[first]
	switch {
	case first == '-' || first >= '0' && first <= '9':
		kind = "a number"
	case kind == "":
		return errNoJSON
	}
	return listError(what + " must be " + should + ", not " + kind)
}

// incompleteError is the error of a text that stops too early.
func incompleteError(err error) error {
	if errors.Is(err, io.EOF) {
		return errNoJSON
	}
	return err
}

// next is the next byte that is no space; it is not taken.
func (l *list) next() (byte, error) {
	for {
		all, err := l.w.more(0)
		if err != nil {
			return 0, err
		}
		for i, b := range all {
			if b != ' ' && (b < '\t' || b > '\r') {
				l.w.discard(i)
				return b, nil
			}
		}
		l.w.discard(len(all))
	}
}

// each walks what stands between brackets, which part takes one by one.
func (l *list) each(closing byte, part func() error) error {
	l.w.discard(1)
	b, err := l.next()
	if err == nil && b == closing {
		l.w.discard(1)
		return nil
	}
	for {
		if err != nil {
			return incompleteError(err)
		}
		if err = part(); err != nil {
			return err
		}
		if b, err = l.next(); err != nil {
			return incompleteError(err)
		}
		l.w.discard(1)
		switch b {
		case closing:
			return nil
		case ',':
		default:
			return errNoJSON
		}
		_, err = l.next()
	}
}

func (l *list) contacts() error {
	l.found = true
	return l.each(']', func() error {
		text, whole, err := l.w.value()
		if err != nil {
			return incompleteError(err)
		}
		l.n++
		c := domain.RawContact{Line: l.n, Problem: "the contact is larger than 64 kB"}
		if whole {
			if c = row(l.n, text); c.Problem != "" && !json.Valid(text) {
				return errNoJSON
			}
		}
		if !l.yield(c, nil) {
			return errStopped
		}
		return nil
	})
}

// maxName bounds what is shown of a name that is not known.
const maxName = 60

// object reads the members of the body, which is contacts alone.
func (l *list) object() error {
	return l.each('}', func() error {
		text, whole, err := l.w.value()
		if err != nil {
			return incompleteError(err)
		}
		var name string
		if whole && json.Unmarshal(text, &name) != nil {
			return errNoJSON
		}
		colon, err := l.next()
		if err != nil || colon != ':' {
			return errors.Join(incompleteError(err), errNoJSON)
		}
		l.w.discard(1)
		first, err := l.next()
		switch {
		case err != nil:
			return incompleteError(err)
		case whole && name == "contacts" && l.found:
			return listError("is given more than once")
		case whole && name == "contacts" && first == '[':
			return l.contacts()
		case whole && name == "contacts":
			return wrongKind("contacts", "a list of contacts", first)
		}
		if text, whole, err = l.w.value(); err != nil {
			return incompleteError(err)
		}
		if whole && !json.Valid(text) {
			return errNoJSON
		}
		var p domain.Problems
		p.Add(cmp.Or(strings.ToValidUTF8(name[:min(len(name), maxName)], ""), "body"), domain.CodeValidation, "there is no such field")
		return p.Err()
	})
}

// value takes one JSON value; whole is false where it was larger than MaxRow
// and is passed over. The bytes are good until the next call. Whether they are
// JSON is not looked at.
func (w *window) value() (text []byte, whole bool, err error) {
	var s valueScanner
	long := false
	for n := 0; ; {
		all, err := w.more(n)
		if err != nil {
			return nil, false, err
		}
		for ; n < len(all) && n < MaxRow; n++ {
			with, over := s.ends(all[n], n == 0 && !long)
			if !over {
				continue
			}
			if with {
				n++
			}
			w.discard(n)
			if long {
				return nil, false, nil
			}
			return all[:n], true, nil
		}
		if n >= MaxRow {
			w.discard(n)
			n, long = 0, true
		}
	}
}

// valueScanner follows brackets and quotes of a value, byte by byte.
type valueScanner struct {
	depth           int
	quoted, escaped bool
}

// ends says whether the value ends with a byte, or before it.
func (s *valueScanner) ends(b byte, first bool) (with, over bool) {
	if s.quoted {
		switch {
		case s.escaped:
			s.escaped = false
		case b == '\\':
			s.escaped = true
		case b == '"':
			s.quoted = false
			return true, s.depth == 0
		}
		return false, false
	}
	switch b {
	case '"':
		s.quoted = true
	case '{', '[':
		s.depth++
	case '}', ']':
		if s.depth == 0 {
			return first, true // a scalar ends before it; nothing ends with it
		}
		s.depth--
		return true, s.depth == 0
	case ',', ':', ' ', '\t', '\n', '\r':
		return first, s.depth == 0
	}
	return false, false
}
