package router

import (
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// maxExampleDepth is the maximum depth of an example value, because schemas may be recursive.
const maxExampleDepth = 6

// The ULID and the time that examples use.
const (
	ExampleULID = "01J00000000000000000000001"
	ExampleTime = "2026-01-31T09:30:00.000Z"
)

// exampleValues creates example values for schemas from the examples, defaults, enums and limits in the schemas.
type exampleValues struct{ registry huma.Registry }

// fromSchema returns an example value of a schema. name is the name of the member with this schema, "" for a whole
// body.
func (e exampleValues) fromSchema(name string, s *huma.Schema, depth int) any {
	if s == nil || depth > maxExampleDepth {
		return nil
	}
	if s.Ref != "" {
		return e.fromSchema(name, e.registry.SchemaFromRef(s.Ref), depth)
	}
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	for _, part := range slices.Concat(s.AllOf, s.OneOf, s.AnyOf) {
		if part.Type != "null" {
			return e.fromSchema(name, part, depth)
		}
	}
	switch s.Type {
	case huma.TypeObject:
		return e.object(s, depth)
	case huma.TypeArray:
		if one := e.fromSchema(name, s.Items, depth+1); one != nil && depth < maxExampleDepth {
			return []any{one}
		}
		return []any{}
	case huma.TypeString:
		return exampleString(name, s)
	case huma.TypeInteger, huma.TypeNumber:
		if s.Minimum != nil && *s.Minimum > 1 {
			return *s.Minimum
		}
		return 1
	case huma.TypeBoolean:
		return true
	}
	return map[string]any{}
}

// object returns an example object with the required members and those members whose schemas have an example.
func (e exampleValues) object(s *huma.Schema, depth int) map[string]any {
	out := make(map[string]any, len(s.Properties))
	for name, p := range s.Properties {
		if slices.Contains(s.Required, name) || len(p.Examples) > 0 {
			out[name] = e.fromSchema(name, p, depth+1)
		}
	}
	return out
}

// exampleString returns an example string that fits the format of the schema and the name of the member.
func exampleString(name string, s *huma.Schema) string {
	switch s.Format {
	case "date-time":
		return ExampleTime
	case "date":
		return ExampleTime[:len("2026-01-31")]
	}
	kind, isID := strings.CutSuffix(name, "_id")
	switch {
	case isID:
		return kind + "_" + ExampleULID
	case name == "phone", name == "to", name == "from", name == "number":
		return "+12025550123"
	case strings.HasSuffix(name, "url"):
		return "https://example.com"
	case s.MaxLength != nil && *s.MaxLength < len("text"):
		return "US"
	}
	return "text"
}
