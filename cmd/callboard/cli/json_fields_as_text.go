package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// writeFields reads the next JSON object of d and writes its fields, one per line. It indents nested objects by depth
// and omits empty values.
func writeFields(w io.Writer, d *json.Decoder, depth int) error {
	open, err := d.Token()
	if err != nil || open != json.Delim('{') {
		return err
	}
	pad := strings.Repeat("  ", depth)
	for d.More() {
		name, failed := d.Token()
		if failed != nil {
			return failed
		}
		var raw json.RawMessage
		if err = d.Decode(&raw); err != nil {
			return err
		}
		if text, plain := InlineValue(raw); plain {
			if text != "" {
				_, _ = fmt.Fprintf(w, "%s%s: %s\n", pad, Clean(fmt.Sprint(name)), Clean(text))
			}
			continue
		}
		_, _ = fmt.Fprintf(w, "%s%s:\n", pad, Clean(fmt.Sprint(name)))
		if err = writeNested(w, raw, depth+1); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// writeNested writes the fields of an object. It writes a list of objects one after another, with a line "-" in
// between.
func writeNested(w io.Writer, raw json.RawMessage, depth int) error {
	parts := []json.RawMessage{raw}
	list := raw[0] == '['
	if list {
		if err := json.Unmarshal(raw, &parts); err != nil {
			return err
		}
	}
	for i, p := range parts {
		if list && i > 0 {
			_, _ = fmt.Fprintf(w, "%s-\n", strings.Repeat("  ", depth))
		}
		if err := writeFields(w, json.NewDecoder(bytes.NewReader(p)), depth); err != nil {
			return err
		}
	}
	return nil
}

// InlineValue returns the text of a JSON value that fits on one line. It returns false for objects and lists of objects.
func InlineValue(raw json.RawMessage) (string, bool) {
	switch raw[0] {
	case 'n':
		return "", true
	case '"':
		var text string
		_ = json.Unmarshal(raw, &text) // raw is valid JSON
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			text = FormatTime(t)
		}
		return text, true
	case '{':
		return "", string(raw) == "{}"
	case '[':
		var parts []json.RawMessage
		_ = json.Unmarshal(raw, &parts)
		words := make([]string, 0, len(parts))
		for _, p := range parts {
			word, plain := InlineValue(p)
			if !plain {
				return "", false
			}
			words = append(words, word)
		}
		return strings.Join(words, ", "), true
	}
	return string(raw), true
}
