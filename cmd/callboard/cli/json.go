package cli

import (
	"bytes"
	"encoding/json"
	"io"
)

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (s *session) json(v any) error { return printJSON(s.out(), v) }

// line prints one JSON value on a line of its own, for answers without an end.
func (s *session) line(v any) error {
	e := json.NewEncoder(s.out())
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// show prints one thing: JSON, or its fields line by line.
func (s *session) show(v any) error {
	if s.asJSON {
		return s.json(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return sheet(s.out(), d, 0)
}
