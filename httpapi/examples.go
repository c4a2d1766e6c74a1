package httpapi

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
)

// exampleText holds an example for the JSON body of each request and of each
// success answer, by the id of the operation. What the tests sent and were
// answered is added by: go test ./httpapi -examples.
//
//go:embed examples.json
var exampleText []byte

// Example is what one operation is sent and answers.
type Example struct {
	Request any            `json:"request,omitempty"`
	Answers map[string]any `json:"answers,omitempty"` // by status
	Lines   string         `json:"lines,omitempty"`   // of an answer in JSON lines
}

func examples() map[string]Example {
	var all map[string]Example
	if err := json.Unmarshal(exampleText, &all); err != nil {
		panic("httpapi: the examples cannot be read: " + err.Error())
	}
	return all
}

// exemplifyAll gives every body an example, where none is kept one that is made
// of the schema.
func (s *Server) exemplifyAll() {
	all, values := examples(), exampleValues{s.api.OpenAPI().Components.Schemas}
	for _, item := range s.api.OpenAPI().Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil {
				exemplify(op, all)
				complete(op, values)
			}
		}
	}
}

// complete makes the examples of JSON bodies that have none.
func complete(op *huma.Operation, values exampleValues) {
	if op.RequestBody != nil {
		if m := op.RequestBody.Content[fiber.MIMEApplicationJSON]; m != nil && m.Example == nil {
			m.Example = values.of("", m.Schema, 0)
		}
	}
	for status, r := range op.Responses {
		if m := r.Content[fiber.MIMEApplicationJSON]; m != nil && m.Example == nil && strings.HasPrefix(status, "2") {
			m.Example = values.of("", m.Schema, 0)
		}
		if m := r.Content[mimeNDJSON]; m != nil && m.Example == nil {
			m.Example = "{\"id\": \"call_" + exampleULID + "\"}\n"
		}
	}
}

// exemplify shows what the operation takes and answers.
func exemplify(op *huma.Operation, all map[string]Example) {
	example := all[op.OperationID]
	if op.RequestBody != nil {
		for kind, m := range op.RequestBody.Content {
			if m.Example == nil {
				m.Example = exampleOf(kind, example.Request)
			}
		}
	}
	for status, r := range op.Responses {
		if m := r.Content[fiber.MIMEApplicationJSON]; m != nil && m.Example == nil {
			m.Example = example.Answers[status]
		}
		if m := r.Content[mimeNDJSON]; m != nil && example.Lines != "" {
			m.Example = example.Lines
		}
	}
}

// exampleOf is the example of a body of a media type; nil: there is none.
func exampleOf(kind string, request any) any {
	switch kind {
	case fiber.MIMEApplicationJSON, fiber.MIMEApplicationForm:
		return request
	case mimeNDJSON:
		return "{\"phone\": \"+12025550123\", \"context\": {\"name\": \"Ada\"}}\n{\"phone\": \"+12025550124\"}\n"
	case fiber.MIMEMultipartForm:
		return map[string]any{"file": "phone,name\n+12025550123,Ada\n"}
	}
	return nil
}
