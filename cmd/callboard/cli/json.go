package cli

import (
	"bytes"
	"encoding/json"
	"io"
)

// WriteJSON writes v to w as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// PrintJSON prints v as indented JSON.
func (s *Session) PrintJSON(v any) error { return WriteJSON(s.Out(), v) }

// PrintJSONLine prints v as JSON on one line, for lists and streams of values.
func (s *Session) PrintJSONLine(v any) error {
	e := json.NewEncoder(s.Out())
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// PrintRecord prints a record, such as an agent. With --json it prints JSON, otherwise one field per line.
func (s *Session) PrintRecord(v any) error {
	if s.AsJSON {
		return s.PrintJSON(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return writeFields(s.Out(), d, 0)
}
