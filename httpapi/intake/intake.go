// Package intake reads contacts out of what strangers send: CSV, lines of
// JSON, or one JSON text. It holds one row at a time, counts what it cannot
// read instead of giving up, and knows no HTTP and no campaign.
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

// MaxRow is the size of the largest row that is read, in bytes.
const MaxRow = 64 << 10

// contact is one contact in JSON.
type contact struct {
	Phone    string         `json:"phone"`
	Context  domain.Context `json:"context"`
	Timezone string         `json:"timezone"`
	Country  string         `json:"country"`
}

// row reads one contact; what cannot be read becomes its Problem.
func row(line int, text []byte) domain.RawContact {
	c := domain.RawContact{Line: line}
	if !utf8.Valid(text) {
		c.Problem = "the row is not UTF-8"
		return c
	}
	var in contact
	if err := domain.DecodeJSON(text, &in); err != nil {
		c.Problem = "the row is no contact: " + problemOf(err)
		return c
	}
	c.Phone, c.Context, c.Timezone, c.Country = trimSpace(in.Phone), in.Context, in.Timezone, in.Country
	c.Problem = checkPhone(c.Phone)
	return c
}

// checkPhone says why a row can have no number; "": it may have one.
func checkPhone(phone string) string {
	switch {
	case phone == "":
		return "the row has no phone"
	case len(phone) > MaxNumber:
		return "the row's phone is longer than a telephone number"
	}
	return ""
}

// problemOf is what domain.DecodeJSON says is wrong, within a sentence.
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

// NDJSON reads one contact per line. An error of r ends the rows.
func NDJSON(r io.Reader) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		w := newWindow(decodeText(r))
		line := 1
		for {
			text, whole, err := w.line()
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
				c = row(line, text)
			}
			line++
			if !yield(c, nil) {
				return
			}
		}
	}
}
