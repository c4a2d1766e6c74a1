package personal

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"
)

// IsInValue reports whether a text at any depth of a value contains the number.
func (n Number) IsInValue(v any) bool {
	w := valueWalker{n: n}
	w.visitValue(reflect.ValueOf(v))
	return w.found
}

// MaskValue masks the number in all texts of the value that v points to, at any depth. It reports whether it found the
// number.
func (n Number) MaskValue(v any) bool {
	w := valueWalker{n: n, mask: true}
	w.visitValue(reflect.ValueOf(v))
	return w.found
}

// valueWalker visits all texts of a value by reflection to find or mask a number.
type valueWalker struct {
	n           Number
	mask, found bool
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	rawType    = reflect.TypeFor[json.RawMessage]()
	bytesType  = reflect.TypeFor[[]byte]()
	numberType = reflect.TypeFor[json.Number]()
)

func (w *valueWalker) isDone() bool { return w.found && !w.mask }

func (w *valueWalker) visitValue(v reflect.Value) {
	if !v.IsValid() || w.isDone() {
		return
	}
	switch v.Type() {
	case timeType:
		return
	case rawType, bytesType:
		w.visitBytes(v)
		return
	}
	switch v.Kind() { // other kinds contain no text
	case reflect.String:
		if text, found := w.visitText(v.String(), v.Type() == numberType); found && v.CanSet() {
			v.SetString(text)
		}
	case reflect.Pointer:
		w.visitValue(v.Elem())
	case reflect.Interface:
		w.visitInterface(v)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				w.visitValue(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.visitValue(v.Index(i))
		}
	case reflect.Map:
		w.visitMap(v)
	}
}

// visitInterface masks the number in an interface value. It masks a copy of the contained value and then stores the copy,
// because reflection cannot change the contained value in place.
func (w *valueWalker) visitInterface(v reflect.Value) {
	if v.IsNil() {
		return
	}
	if element := v.Elem(); element.Kind() == reflect.Pointer || element.Kind() == reflect.Map || !w.mask || !v.CanSet() {
		w.visitValue(element)
		return
	} else if element.Type() == numberType { // a masked number becomes a string
		if text, found := w.visitText(element.String(), true); found {
			v.Set(reflect.ValueOf(text))
		}
		return
	}
	element := reflect.New(v.Elem().Type()).Elem()
	element.Set(v.Elem())
	w.visitValue(element)
	v.Set(element)
}

// visitMap masks the number in the keys and values of a map.
func (w *valueWalker) visitMap(v reflect.Value) {
	for _, key := range v.MapKeys() {
		name := reflect.New(key.Type()).Elem()
		name.Set(key)
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		w.visitValue(name)
		w.visitValue(value)
		if !w.mask {
			continue
		}
		if name.Interface() != key.Interface() {
			v.SetMapIndex(key, reflect.Value{})
		}
		v.SetMapIndex(name, value)
	}
}

// visitBytes masks the number in a byte slice. JSON stays valid JSON, and other bytes are treated as text.
func (w *valueWalker) visitBytes(v reflect.Value) {
	d := json.NewDecoder(bytes.NewReader(v.Bytes()))
	d.UseNumber()
	var element any
	if d.Decode(&element) != nil || d.More() {
		if text, found := w.visitText(string(v.Bytes()), false); found && v.CanSet() {
			v.SetBytes([]byte(text))
		}
		return
	}
	inner := valueWalker{n: w.n, mask: w.mask}
	inner.visitValue(reflect.ValueOf(&element).Elem())
	if !inner.found {
		return
	}
	w.found = true
	if text, err := json.Marshal(element); err == nil && w.mask && v.CanSet() {
		v.SetBytes(text)
	}
}

// visitText masks the number in one text. It skips dates, because their digits can look like a number.
func (w *valueWalker) visitText(text string, number bool) (masked string, found bool) {
	if len(text) < len(w.n.national) || !number && isDate(text) {
		return text, false
	}
	if masked, found = w.n.Mask(text); found {
		w.found = true
	}
	return masked, found && w.mask
}

func isDate(text string) bool {
	if len(text) < len(time.DateOnly) || text[4] != '-' {
		return false
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04"} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}
