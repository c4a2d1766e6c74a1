// Package intake reads contacts and telephone numbers from uploaded files: CSV, JSON lines or one JSON text. It
// holds one row in memory at a time. It returns a row that cannot be read with a Problem and continues with the next
// row.
package intake

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
)

// MaxRow is the maximum size of a row in bytes.
const MaxRow = 64 << 10

// contact is the JSON form of a contact.
type contact struct {
	Phone    string         `json:"phone"`
	Context  domain.Context `json:"context"`
	Timezone string         `json:"timezone"`
	Country  string         `json:"country"`
}

// parseContact decodes a contact in JSON. If the text is invalid, the result has a Problem.
func parseContact(line int, text []byte) domain.RawContact {
	c := domain.RawContact{Line: line}
	if !utf8.Valid(text) {
		c.Problem = "the row is not UTF-8"
		return c
	}
	var in contact
	if err := domain.DecodeJSON(text, &in); err != nil {
		c.Problem = "the row is not a contact: " + problemOf(err)
		return c
	}
	c.Phone, c.Context, c.Timezone, c.Country = trimSpace(in.Phone), in.Context, in.Timezone, in.Country
	c.Problem = checkPhone(c.Phone)
	return c
}

// checkPhone describes why a text cannot be a telephone number, "" if it can be one.
func checkPhone(phone string) string {
	switch {
	case phone == "":
		return "the row has no phone"
	case len(phone) > MaxNumber:
		return "the row's phone is longer than a telephone number"
	}
	return ""
}

// problemOf returns the message of a domain.DecodeJSON error in a form that fits into a longer sentence.
func problemOf(err error) string {
	e, ok := errors.AsType[*domain.Error](err)
	if !ok {
		return "it cannot be read"
	}
	said := strings.TrimSuffix(e.Sentence(), ".")
	if rest, begins := strings.CutPrefix(said, "The "); begins {
		said = "the " + rest
	}
	return said
}

// NDJSON reads one contact per line. An error of r ends the sequence.
func NDJSON(r io.Reader) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		w := newWindow(decodeText(r))
		line := 1
		for {
			text, whole, err := w.readLine()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(domain.RawContact{}, err)
				}
				return
			}
			c := domain.RawContact{Line: line, Problem: "the row is larger than 64 kB"}
			if whole {
				if text = bytes.TrimSpace(text); len(text) == 0 {
					line++
					continue
				}
				c = parseContact(line, text)
			}
			line++
			if !yield(c, nil) {
				return
			}
		}
	}
}
