package personal

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"
)

// IsInValue reports whether a value, as deep as it goes, contains the number.
func (n Number) IsInValue(v any) bool {
	w := valueWalker{n: n}
	w.visitValue(reflect.ValueOf(v))
	return w.found
}

// MaskValue blanks the number in all texts of what a pointer leads to, and says
// whether it was there.
func (n Number) MaskValue(v any) bool {
	w := valueWalker{n: n, mask: true}
	w.visitValue(reflect.ValueOf(v))
	return w.found
}

// valueWalker goes through a value.
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
	switch v.Kind() { // others hold no text
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

// visitInterface masks what an interface holds, which cannot be set by itself.
func (w *valueWalker) visitInterface(v reflect.Value) {
	if v.IsNil() {
		return
	}
	if held := v.Elem(); held.Kind() == reflect.Pointer || held.Kind() == reflect.Map || !w.mask || !v.CanSet() {
		w.visitValue(held)
		return
	} else if held.Type() == numberType { // it becomes a text
		if text, found := w.visitText(held.String(), true); found {
			v.Set(reflect.ValueOf(text))
		}
		return
	}
	held := reflect.New(v.Elem().Type()).Elem()
	held.Set(v.Elem())
	w.visitValue(held)
	v.Set(held)
}

// visitMap masks the keys and the values of a map.
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

// visitBytes masks JSON as JSON, and other bytes as text.
func (w *valueWalker) visitBytes(v reflect.Value) {
	d := json.NewDecoder(bytes.NewReader(v.Bytes()))
	d.UseNumber()
	var held any
	if d.Decode(&held) != nil || d.More() {
		if text, found := w.visitText(string(v.Bytes()), false); found && v.CanSet() {
			v.SetBytes([]byte(text))
		}
		return
	}
	inner := valueWalker{n: w.n, mask: w.mask}
	inner.visitValue(reflect.ValueOf(&held).Elem())
	if !inner.found {
		return
	}
	w.found = true
	if text, err := json.Marshal(held); err == nil && w.mask && v.CanSet() {
		v.SetBytes(text)
	}
}

// visitText masks one text. A date is none of a number, though its digits may be.
func (w *valueWalker) visitText(visitText string, number bool) (masked string, found bool) {
	if len(visitText) < len(w.n.national) || !number && isDate(visitText) {
		return visitText, false
	}
	if masked, found = w.n.Mask(visitText); found {
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
