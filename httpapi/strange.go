package httpapi

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// strange is the path of a member that a type has no field for, in a text that
// was refused because of its name; the name where it is not found.
func strange(t reflect.Type, text []byte, name string) string {
	var v any
	if json.Unmarshal(text, &v) == nil {
		if path := strangeIn(t, v, name, ""); path != "" {
			return strings.TrimPrefix(path, ".")
		}
	}
	return name
}

func strangeIn(t reflect.Type, v any, name, at string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch x := v.(type) {
	case []any:
		for i, one := range x {
			if t.Kind() != reflect.Slice {
				break
			}
			if path := strangeIn(t.Elem(), one, name, at+"["+strconv.Itoa(i)+"]"); path != "" {
				return path
			}
		}
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(x)) { // always the same one of several
			one := x[member]
			inner, known := memberOf(t, member)
			if !known && member == name {
				return at + "." + member
			}
			if known {
				if path := strangeIn(inner, one, name, at+"."+member); path != "" {
					return path
				}
			}
		}
	}
	return ""
}

// memberOf is the type of a member of an object, in any case, as encoding/json
// finds it.
func memberOf(t reflect.Type, member string) (reflect.Type, bool) {
	switch t.Kind() {
	case reflect.Map:
		return t.Elem(), true
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || tag == "-" || f.Anonymous && tag == "" {
				continue
			}
			if strings.EqualFold(cmp.Or(tag, f.Name), member) {
				return f.Type, true
			}
		}
	default:
	}
	return t, t.Kind() == reflect.Interface
}
