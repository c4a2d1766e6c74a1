package httpapi

import (
	"encoding/json"
	"reflect"
	"sync"
	"time"
)

// filled is a copy of a value in which no list and no map is nil, unless its
// field is left out when empty. Nouns are shared between requests: the value
// itself is never written to.
func filled(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || !hasLists(v.Type().Elem()) {
			return v
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(filled(v.Elem()))
		return p
	case reflect.Struct:
		if !hasLists(v.Type()) {
			return v
		}
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		for _, i := range listing(v.Type()) {
			f := c.Field(i)
			f.Set(filled(f))
		}
		return c
	case reflect.Slice:
		return filledList(v)
	case reflect.Map:
		if v.IsNil() {
			return reflect.MakeMap(v.Type())
		}
		return v
	default:
		return v
	}
}

func filledList(v reflect.Value) reflect.Value {
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		return v
	}
	if v.IsNil() {
		return reflect.MakeSlice(v.Type(), 0, 0)
	}
	if !hasLists(v.Type().Elem()) {
		return v
	}
	c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	for i := range v.Len() {
		c.Index(i).Set(filled(v.Index(i)))
	}
	return c
}

// listed remembers hasLists of each type, which never changes.
var listed sync.Map //nolint:gochecknoglobals // as above; reflect.Type → bool

// listings remembers listing of each type, which never changes.
var listings sync.Map //nolint:gochecknoglobals // as above; reflect.Type → []int

// listing are the fields of a struct that can hold a list or a map.
func listing(t reflect.Type) []int {
	known, _ := listings.Load(t)
	if fields, ok := known.([]int); ok {
		return fields
	}
	fields := []int{}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && hasLists(f.Type) {
			fields = append(fields, i)
		}
	}
	listings.Store(t, fields)
	return fields
}

// hasLists says whether a type can hold a list or a map at all.
func hasLists(t reflect.Type) bool {
	if known, ok := listed.Load(t); ok {
		return known == true
	}
	has := lookForLists(t)
	listed.Store(t, has)
	return has
}

func lookForLists(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		return true
	case reflect.Pointer:
		return hasLists(t.Elem())
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return false
		}
		for f := range t.Fields() {
			if f.IsExported() && hasLists(f.Type) {
				return true
			}
		}
	default:
	}
	return false
}
