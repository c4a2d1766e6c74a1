package router

import (
	_ "embed"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// fieldDescriptions holds the descriptions of fields whose Go types are declared in lower layers, without
// documentation tags.
//
//go:embed descriptions.txt
var fieldDescriptions string

// Descriptions returns the descriptions of fields. The keys are "Schema.field", or "*.field" for a field with the same
// meaning in all schemas.
func Descriptions() map[string]string {
	out := make(map[string]string)
	for line := range strings.Lines(fieldDescriptions) {
		if field, text, ok := strings.Cut(strings.TrimSpace(line), " "); ok && field != "#" {
			out[field] = text
		}
	}
	return out
}

// describeFields sets the description of every field without a description.
func describeFields(schemas map[string]*huma.Schema) {
	known := Descriptions()
	for name, schema := range schemas {
		for field, s := range schema.Properties {
			text, ok := known[name+"."+field]
			if !ok {
				text, ok = known["*."+field]
			}
			if s.Description != "" || !ok {
				continue
			}
			if s.Ref != "" { // tools may ignore the siblings of a $ref
				schema.Properties[field] = &huma.Schema{AllOf: []*huma.Schema{s}, Description: text}
				continue
			}
			s.Description = text
		}
	}
}

// describeParameters sets the description of every parameter without a description.
func describeParameters(op *huma.Operation) {
	for _, p := range op.Parameters {
		if p.Description != "" {
			continue
		}
		switch p.Name {
		case "id":
			p.Description = "The id of the resource."
		case "mode":
			p.Description = "listen: hear both sides. whisper: also speak to the agent's side. barge: also speak to both sides."
		case "format":
			p.Description = "Format of the messages."
		case "Range":
			p.Description = "Byte range of the file."
		case "direction":
			p.Description = "Filters by direction."
		case "campaign_id", "contact_id", "agent_id":
			p.Description = "Filters by " + strings.TrimSuffix(p.Name, "_id") + "."
		}
	}
}
