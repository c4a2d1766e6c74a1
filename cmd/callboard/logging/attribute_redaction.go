package logging

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
)

// redactAttr returns a log attribute with secrets masked. An attribute without secrets stays unchanged.
func redactAttr(a slog.Attr, asJSON bool, hide func(string) string) slog.Attr {
	kind := a.Value.Kind()
	if kind != slog.KindString && kind != slog.KindAny {
		return a
	}
	var text string
	isJSON := false
	if kind == slog.KindString {
		text = a.Value.String()
	} else {
		if _, ok := a.Value.Any().(slog.Level); ok {
			return a
		}
		text, isJSON = renderValue(a.Value.Any(), asJSON)
	}
	clean := hide(text)
	switch {
	case clean == text:
	case isJSON && json.Valid([]byte(clean)):
		a.Value = slog.AnyValue(json.RawMessage(clean))
	default:
		a.Value = slog.StringValue(clean)
	}
	return a
}

// renderValue returns the text that a slog handler writes for a value. isJSON reports whether the text is JSON.
// A byte slice is returned as text.
func renderValue(v any, asJSON bool) (text string, isJSON bool) {
	_, isMarshaler := v.(json.Marshaler)
	switch v := v.(type) {
	case []byte:
		return string(v), false
	case error:
		if !asJSON {
			return fmt.Sprintf("%+v", v), false
		}
		if !isMarshaler {
			return v.Error(), false
		}
	}
	if !asJSON {
		if m, ok := v.(encoding.TextMarshaler); ok {
			if text, err := m.MarshalText(); err == nil {
				return string(text), false
			}
		}
		if b := reflect.ValueOf(v); b.Kind() == reflect.Slice && b.Type().Elem().Kind() == reflect.Uint8 {
			return string(b.Bytes()), false
		}
		return fmt.Sprintf("%+v", v), false
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprintf("%+v", v), false
	}
	return strings.TrimSuffix(b.String(), "\n"), true
}
