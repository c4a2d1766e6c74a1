package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
)

// NumbersOf returns the telephone numbers of contacts and drops their other fields, except the country.
func NumbersOf(rows iter.Seq2[domain.RawContact, error]) iter.Seq2[domain.RawNumber, error] {
	return func(yield func(domain.RawNumber, error) bool) {
		for c, err := range rows {
			if !yield(domain.RawNumber{Line: c.Line, Phone: c.Phone, Country: c.Country, Problem: c.Problem}, err) {
				return
			}
		}
	}
}

// NumberLines reads one telephone number per line, in UTF-8 or UTF-16. An error of r ends the sequence.
func NumberLines(r io.Reader) iter.Seq2[domain.RawNumber, error] {
	return func(yield func(domain.RawNumber, error) bool) {
		w := newWindow(decodeText(r))
		for line := 1; ; line++ {
			text, whole, err := w.readLine()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(domain.RawNumber{}, err)
				}
				return
			}
			text = bytes.TrimSpace(text)
			n := domain.RawNumber{Line: line, Phone: string(text)}
			switch {
			case whole && len(text) == 0:
				continue
			case !whole, len(text) > MaxNumber:
				n.Phone, n.Problem = "", "the row is longer than a telephone number"
			case !utf8.Valid(text):
				n.Phone, n.Problem = "", "the row is not UTF-8"
			}
			if !yield(n, nil) {
				return
			}
		}
	}
}

// MaxNumber is the maximum length in bytes of a text that is read as a telephone number.
const MaxNumber = 64

// JSONNumbers reads {"entries": […]}. Each entry is a number as a string, or an object with a member phone.
func JSONNumbers(text []byte) (iter.Seq2[domain.RawNumber, error], error) {
	var in struct {
		Entries []json.RawMessage `json:"entries"`
	}
	if err := domain.DecodeJSON(text, &in); err != nil {
		return nil, err
	}
	if in.Entries == nil {
		var p domain.Problems
		p.Add("entries", domain.CodeValidation, "is required: the list of numbers")
		return nil, p.Err()
	}
	return func(yield func(domain.RawNumber, error) bool) {
		for i, e := range in.Entries {
			if !yield(parseNumberEntry(i+1, e), nil) {
				return
			}
		}
	}, nil
}

func parseNumberEntry(line int, text json.RawMessage) domain.RawNumber {
	n := domain.RawNumber{Line: line}
	if len(text) > 0 && text[0] == '"' {
		if domain.DecodeJSON(text, &n.Phone) != nil || len(n.Phone) > MaxNumber {
			n.Phone, n.Problem = "", "the entry is not a telephone number"
		}
		return n
	}
	var in struct {
		Phone   string `json:"phone"`
		Country string `json:"country"`
	}
	if err := domain.DecodeJSON(text, &in); err != nil {
		n.Problem = "the entry is not a number: " + problemOf(err)
		return n
	} else if in.Phone == "" || len(in.Phone) > MaxNumber {
		n.Problem = "the entry has no phone"
		return n
	}
	n.Phone, n.Country = in.Phone, in.Country
	return n
}
