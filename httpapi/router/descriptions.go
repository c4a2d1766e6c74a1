package router

import (
	_ "embed"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// fieldWords is what fields mean, apart from the types: these know nothing of
// the document.
//
//go:embed descriptions.txt
var fieldWords string

// Descriptions are the descriptions by "Schema.field" and "*.field".
func Descriptions() map[string]string {
	out := make(map[string]string)
	for line := range strings.Lines(fieldWords) {
		if field, text, ok := strings.Cut(strings.TrimSpace(line), " "); ok && field != "#" {
			out[field] = text
		}
	}
	return out
}

// describeFields gives every field a description that has none of its own.
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
			if s.Ref != "" { // what stands beside a $ref may be passed over by readers
				schema.Properties[field] = &huma.Schema{AllOf: []*huma.Schema{s}, Description: text}
				continue
			}
			s.Description = text
		}
	}
}

// describeParameters says what parameters mean that have no words of their own.
func describeParameters(op *huma.Operation) {
	for _, p := range op.Parameters {
		if p.Description != "" {
			continue
		}
		switch p.Name {
		case "id":
			p.Description = "Names the resource."
		case "mode":
			p.Description = "listen: hear both sides. whisper: be heard by the agent's side too. barge: by both."
		case "format":
			p.Description = "How the messages are shown."
		case "Range":
			p.Description = "The part of the file that is wanted."
		case "direction":
			p.Description = "Only calls of this direction."
		case "campaign_id", "contact_id", "agent_id":
			p.Description = "Only those of this " + strings.TrimSuffix(p.Name, "_id") + "."
		}
	}
}
