package pathway

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// MaxResultBytes limits the result of an action whose fields are read. An action with a longer result fails.
const MaxResultBytes = 64 << 10

// valueOf returns the value of a variable, or of a field of a variable that holds a JSON text, such as the result of a
// tool: "order.items.0.name" is the name of the first item of the variable order. Objects and lists are JSON texts. ok is
// false if there is no such variable or field.
func valueOf(values map[string]string, name string) (value string, ok bool) {
	if value, ok = values[name]; ok {
		return value, true
	}
	variable, path, isField := strings.Cut(name, ".")
	text, ok := values[variable]
	if !isField || !ok {
		return "", false
	}
	return fieldOf([]byte(text), strings.Split(path, "."))
}

func fieldOf(text []byte, path []string) (value string, ok bool) {
	for _, key := range path {
		switch text = bytes.TrimSpace(text); {
		case len(text) > 0 && text[0] == '{':
			var object map[string]json.RawMessage
			if json.Unmarshal(text, &object) != nil {
				return "", false
			}
			if text, ok = object[key]; !ok {
				return "", false
			}
		case len(text) > 0 && text[0] == '[':
			var list []json.RawMessage
			i, err := strconv.Atoi(key)
			if err != nil || json.Unmarshal(text, &list) != nil || i < 0 || i >= len(list) {
				return "", false
			}
			text = list[i]
		default:
			return "", false
		}
	}
	var single string
	switch {
	case json.Unmarshal(text, &single) == nil: // null is ""
		return single, true
	default:
		return string(text), true
	}
}

// variableOf returns the variable of a name that may be that of a field.
func variableOf(name string) string {
	variable, _, _ := strings.Cut(name, ".")
	return variable
}
