package validation

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callboard/callboard/domain"
)

// Limits of the JSON Schema of tool arguments.
const (
	maxSchemaBytes = 32 << 10
	maxSchemaDepth = 16
)

// schemaAddress is the URI under which the compiler knows the schema of a request. References to other URIs are
// rejected.
const schemaAddress = "urn:schema"

type refusingLoader struct{}

// Load rejects every address, so that a schema cannot make the service fetch other documents.
func (refusingLoader) Load(string) (any, error) { return nil, errOutside }

var errOutside = errors.New("a $ref may only point into the schema itself")

// ArgumentSchema adds the problems with the JSON Schema of tool arguments. Default version: 2020-12. The schema must
// describe an object.
func ArgumentSchema(p *domain.Problems, param string, schema map[string]any) {
	if nestingDepth(schema) > maxSchemaDepth {
		p.Add(param, domain.CodeValidation, "is nested deeper than %d levels", maxSchemaDepth)
		return
	}
	text, err := json.Marshal(schema)
	if err != nil || len(text) > maxSchemaBytes {
		p.Add(param, domain.CodeValidation, "is longer than %d bytes", maxSchemaBytes)
		return
	}
	if schema["type"] != "object" {
		p.Add(param+".type", domain.CodeValidation, "must be object: arguments have names")
		return
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(refusingLoader{})
	if err = c.AddResource(schemaAddress, schema); err == nil {
		_, err = c.Compile(schemaAddress)
	}
	if err != nil {
		at, why := schemaFault(err)
		p.Add(param+at, domain.CodeValidation, "%s", why)
	}
}

// schemaFault returns the position of a schema error within the schema, and its description.
func schemaFault(err error) (at, why string) {
	if errors.Is(err, errOutside) {
		return "", errOutside.Error()
	}
	bad, ok := errors.AsType[*jsonschema.SchemaValidationError](err)
	if !ok {
		return "", "is not a JSON Schema: " + shorten(libraryMessage(err.Error()))
	}
	found, ok := errors.AsType[*jsonschema.ValidationError](bad.Err)
	if !ok {
		return "", "is not a JSON Schema"
	}
	for len(found.Causes) > 0 { // the first, innermost error
		found = found.Causes[0]
	}
	var b strings.Builder
	for _, step := range found.InstanceLocation {
		b.WriteByte('.')
		b.WriteString(step)
	}
	return b.String(), "is not a JSON Schema: " + libraryMessage(found.Error())
}

// libraryMessage removes the position from an error text of the schema library.
func libraryMessage(text string) string {
	if _, rest, ok := strings.Cut(text, "': "); ok {
		text = rest
	}
	text, _, _ = strings.Cut(text, "\n")
	return strings.ReplaceAll(text, schemaAddress, "the schema")
}

// nestingDepth returns the nesting depth of a JSON value. It stops counting beyond maxSchemaDepth.
func nestingDepth(v any) int { return nestingDepthFrom(v, 0) }

func nestingDepthFrom(v any, at int) int {
	if at > maxSchemaDepth {
		return at
	}
	most := at
	switch v := v.(type) {
	case map[string]any:
		most++
		for _, inner := range v {
			most = max(most, nestingDepthFrom(inner, at+1))
		}
	case []any:
		most++
		for _, inner := range v {
			most = max(most, nestingDepthFrom(inner, at+1))
		}
	}
	return most
}

// checkObject checks the nesting depth and the size of a JSON object that is stored as the client sent it.
func checkObject(p *domain.Problems, param string, v map[string]any, most int) {
	if nestingDepth(v) > maxSchemaDepth {
		p.Add(param, domain.CodeValidation, "is nested deeper than %d levels", maxSchemaDepth)
		return
	}
	if text, err := json.Marshal(v); err != nil || len(text) > most {
		p.Add(param, domain.CodeValidation, "is longer than %d bytes", most)
	}
}

// CheckArguments validates tool arguments against the JSON Schema of the tool. The error names the invalid argument.
func CheckArguments(schema, given map[string]any) error {
	c := jsonschema.NewCompiler()
	c.UseLoader(refusingLoader{})
	if err := c.AddResource(schemaAddress, schema); err != nil {
		return errNoSchema
	}
	s, err := c.Compile(schemaAddress)
	if err != nil {
		return errNoSchema
	}
	if given == nil {
		given = map[string]any{}
	}
	err = s.Validate(given)
	if err == nil {
		return nil
	}
	found, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return errors.New("the arguments do not fit the tool's schema")
	}
	for len(found.Causes) > 0 {
		found = found.Causes[0]
	}
	at := strings.Join(found.InstanceLocation, ".")
	if at == "" {
		at = "arguments"
	}
	return errors.New(shorten(at) + ": " + shorten(libraryMessage(found.Error())))
}

var errNoSchema = errors.New("the tool's schema is not valid")

// TypedArguments converts arguments that are text to the types that the schema requires. Text that cannot be converted
// stays text.
func TypedArguments(schema map[string]any, given map[string]string) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	out := make(map[string]any, len(given))
	for name, text := range given {
		out[name] = text
		property, _ := properties[name].(map[string]any)
		switch property["type"] {
		case "integer", "number", "boolean", "array", "object":
			var v any
			if domain.DecodeJSON([]byte(text), &v) == nil {
				out[name] = v
			}
		}
	}
	return out
}
