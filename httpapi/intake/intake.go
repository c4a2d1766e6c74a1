// Package intake reads contacts out of what strangers send: CSV, lines of
// JSON, or one JSON text. It holds one row at a time, counts what it cannot
// read instead of giving up, and knows no HTTP and no campaign.
package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
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
func row(line int, text []byte) ask.RawContact {
	c := ask.RawContact{Line: line}
	if !utf8.Valid(text) {
		c.Problem = "the row is not UTF-8"
		return c
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var in contact
	if err := d.Decode(&in); err != nil {
		c.Problem = "the row is no contact: " + why(err)
		return c
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		c.Problem = "the row holds more than one contact"
		return c
	}
	c.Phone, c.Context, c.Timezone, c.Country = trimmed(in.Phone), in.Context, in.Timezone, in.Country
	c.Problem = phoneless(c.Phone)
	return c
}

// phoneless says why a row can have no number; "": it may have one.
func phoneless(phone string) string {
	switch {
	case phone == "":
		return "the row has no phone"
	case len(phone) > MaxNumber:
		return "the row's phone is longer than a telephone number"
	}
	return ""
}

// why is the reason of an error of encoding/json, without what was sent.
func why(err error) string {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return "it must be a JSON object, not " + kind.Value
	case errors.As(err, &kind):
		return kind.Field + " must not be a " + kind.Value
	case errors.As(err, &syntax):
		return "not valid JSON"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the JSON ends too early"
	}
	return "it has a field that no contact has"
}

// NDJSON reads one contact per line. An error of r ends the rows.
func NDJSON(r io.Reader) iter.Seq2[ask.RawContact, error] {
	return func(yield func(ask.RawContact, error) bool) {
		w := newWindow(decoded(r))
		line := 1
		for {
			text, whole, err := w.line()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(ask.RawContact{}, err)
				}
				return
			}
			c := ask.RawContact{Line: line, Problem: "the row is larger than 64 kB"}
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
