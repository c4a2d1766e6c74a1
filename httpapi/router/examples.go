package router

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
)

// exampleText holds the recorded examples of request bodies and successful response bodies, by operation id. `go
// test ./httpapi -examples` adds an example from the requests of the tests for each operation that has none.
//
//go:embed examples.json
var exampleText []byte

// Example holds the example bodies of an operation.
type Example struct {
	Request   any            `json:"request,omitempty"`
	Responses map[string]any `json:"responses,omitempty"` // example responses by HTTP status
	Lines     string         `json:"lines,omitempty"`     // of a response in JSON lines
}

func examples() map[string]Example {
	var all map[string]Example
	if err := json.Unmarshal(exampleText, &all); err != nil {
		panic("httpapi: the examples cannot be read: " + err.Error())
	}
	return all
}

// addExamples adds an example to every request and response body: the recorded example, or else an example derived
// from the schema.
func (b *Registry) addExamples() {
	all, values := examples(), exampleValues{b.API.OpenAPI().Components.Schemas}
	for _, item := range b.API.OpenAPI().Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil {
				addRecordedExamples(op, all)
				addMissingExamples(op, values)
			}
		}
	}
}

// addMissingExamples adds an example derived from the schema to each JSON body that has no example.
func addMissingExamples(op *huma.Operation, values exampleValues) {
	if op.RequestBody != nil {
		if m := op.RequestBody.Content[fiber.MIMEApplicationJSON]; m != nil && m.Example == nil {
			m.Example = values.fromSchema("", m.Schema, 0)
		}
	}
	for status, r := range op.Responses {
		if m := r.Content[fiber.MIMEApplicationJSON]; m != nil && m.Example == nil && strings.HasPrefix(status, "2") {
			m.Example = values.fromSchema("", m.Schema, 0)
		}
		if m := r.Content[MIMEJSONLines]; m != nil && m.Example == nil {
			m.Example = "{\"id\": \"call_" + ExampleULID + "\"}\n"
		}
	}
}

// addRecordedExamples adds the recorded examples of an operation.
func addRecordedExamples(op *huma.Operation, all map[string]Example) {
	example := all[op.OperationID]
	if op.RequestBody != nil {
		for kind, m := range op.RequestBody.Content {
			if m.Example == nil {
				m.Example = bodyExample(kind, example.Request)
			}
		}
	}
	for status, r := range op.Responses {
		if m := r.Content[fiber.MIMEApplicationJSON]; m != nil && m.Example == nil {
			m.Example = example.Responses[status]
		}
		if m := r.Content[MIMEJSONLines]; m != nil && example.Lines != "" {
			m.Example = example.Lines
		}
	}
}

// bodyExample returns an example of a request body for a media type, nil if there is none. request is the recorded JSON
// example.
func bodyExample(kind string, request any) any {
	switch kind {
	case fiber.MIMEApplicationJSON, fiber.MIMEApplicationForm:
		return request
	case MIMEJSONLines:
		return "{\"phone\": \"+12025550123\", \"context\": {\"name\": \"Ada\"}}\n{\"phone\": \"+12025550124\"}\n"
	case fiber.MIMEMultipartForm:
		return map[string]any{"file": "phone,name\n+12025550123,Ada\n"}
	}
	return nil
}
