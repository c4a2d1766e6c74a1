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

// JSON reads a list of contacts, or an object with the list in the member "contacts". It holds one contact in
// memory at a time. Invalid JSON, or an error of r, ends the sequence.
func JSON(r io.Reader) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		l := &contactList{w: newWindow(decodeText(r)), yield: yield}
		if err := l.readAll(); err != nil && !errors.Is(err, errStopped) {
			yield(domain.RawContact{}, err)
		}
	}
}

var (
	errStopped = errors.New("the consumer stopped")
	errNoJSON  = &domain.Error{Code: domain.CodeInvalidRequest, Message: "The body is not valid JSON."}
)

// contactList reads the contacts in a JSON text and yields them one by one.
type contactList struct {
	w     *window
	yield func(domain.RawContact, error) bool
	n     int // contacts read so far
	found bool
}

func (l *contactList) readAll() error {
	first, err := l.peekNonSpace()
	switch {
	case err != nil:
		return incompleteError(err)
	case first == '[':
		err = l.readContacts()
	case first == '{':
		err = l.readObject()
	default:
		return wrongKind("the body", "an object with contacts", first)
	}
	if err != nil {
		return err
	}
	if _, err = l.peekNonSpace(); err == nil {
		return errNoJSON // data follows the JSON text
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

// wrongKind returns an error for a JSON value of the wrong type. what names the value, should the expected type, and
// first is the first byte of the value.
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

// incompleteError returns errNoJSON if err is io.EOF inside a JSON text. It returns other errors unchanged.
func incompleteError(err error) error {
	if errors.Is(err, io.EOF) {
		return errNoJSON
	}
	return err
}

// peekNonSpace skips white space and returns the next byte without consuming it.
func (l *contactList) peekNonSpace() (byte, error) {
	for {
		all, err := l.w.peekBeyond(0)
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

// forEach reads a JSON array or object whose closing bracket is closing. It calls part at the start of each element.
func (l *contactList) forEach(closing byte, part func() error) error {
	l.w.discard(1)
	b, err := l.peekNonSpace()
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
		if b, err = l.peekNonSpace(); err != nil {
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
		_, err = l.peekNonSpace()
	}
}

func (l *contactList) readContacts() error {
	l.found = true
	return l.forEach(']', func() error {
		text, whole, err := l.w.readValue()
		if err != nil {
			return incompleteError(err)
		}
		l.n++
		c := domain.RawContact{Line: l.n, Problem: "the contact is larger than 64 kB"}
		if whole {
			if c = parseContact(l.n, text); c.Problem != "" && !json.Valid(text) {
				return errNoJSON
			}
		}
		if !l.yield(c, nil) {
			return errStopped
		}
		return nil
	})
}

// maxShownName is the maximum length in bytes to which an error shortens the name of an unknown member.
const maxShownName = 60

// readObject reads a body that is a JSON object. Its only allowed member is contacts.
func (l *contactList) readObject() error {
	return l.forEach('}', func() error {
		text, whole, err := l.w.readValue()
		if err != nil {
			return incompleteError(err)
		}
		var name string
		if whole && json.Unmarshal(text, &name) != nil {
			return errNoJSON
		}
		colon, err := l.peekNonSpace()
		if err != nil || colon != ':' {
			return errors.Join(incompleteError(err), errNoJSON)
		}
		l.w.discard(1)
		first, err := l.peekNonSpace()
		switch {
		case err != nil:
			return incompleteError(err)
		case whole && name == "contacts" && l.found:
			return listError("is given more than once")
		case whole && name == "contacts" && first == '[':
			return l.readContacts()
		case whole && name == "contacts":
			return wrongKind("contacts", "a list of contacts", first)
		}
		if text, whole, err = l.w.readValue(); err != nil {
			return incompleteError(err)
		}
		if whole && !json.Valid(text) {
			return errNoJSON
		}
		var p domain.Problems
		p.Add(cmp.Or(strings.ToValidUTF8(name[:min(len(name), maxShownName)], ""), "body"), domain.CodeValidation, "there is no such field")
		return p.Err()
	})
}

// readValue reads one JSON value. whole is false for a value larger than MaxRow, which is skipped. The bytes are valid
// until the next call. They may be invalid JSON, because only brackets and quotes are checked.
func (w *window) readValue() (text []byte, whole bool, err error) {
	var s valueScanner
	long := false
	for n := 0; ; {
		all, err := w.peekBeyond(n)
		if err != nil {
			return nil, false, err
		}
		for ; n < len(all) && n < MaxRow; n++ {
			with, over := s.isEnd(all[n], n == 0 && !long)
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

// valueScanner finds the end of a JSON value. It counts brackets and tracks quotes byte by byte.
type valueScanner struct {
	depth           int
	quoted, escaped bool
}

// isEnd reads the next byte b. over reports whether the value ends here, and with whether b is still part of the value.
// first reports whether b is the first byte of the value.
func (s *valueScanner) isEnd(b byte, first bool) (with, over bool) {
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
			return first, true // a number or literal ends before this byte
		}
		s.depth--
		return true, s.depth == 0
	case ',', ':', ' ', '\t', '\n', '\r':
		return first, s.depth == 0
	}
	return false, false
}
