package events

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/httpapi/router"
)

// eventSchemaName returns the schema name of an event type: CallEndedEvent for call.ended, SMSSentEvent for
// sms.sent.
func eventSchemaName(t event.Type) string {
	var name strings.Builder
	for word := range strings.FieldsFuncSeq(string(t), func(r rune) bool { return r == '.' || r == '_' }) {
		if word == "sms" {
			word = "SMS"
		}
		first := []rune(word)
		name.WriteString(string(unicode.ToUpper(first[0])) + string(first[1:]))
	}
	return name.String() + "Event"
}

// TransformSchema makes the schema of an event the union of all event types.
func (Event) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	s.Discriminator = &huma.Discriminator{PropertyName: "type", Mapping: make(map[string]string)}
	known := router.Descriptions()
	for name, p := range s.Properties {
		p.Description = known["Event."+name]
	}
	for _, t := range event.Types() {
		ref := "#/components/schemas/" + eventSchemaName(t)
		r.Map()[eventSchemaName(t)] = eventSchema(r, t, s)
		s.OneOf = append(s.OneOf, &huma.Schema{Ref: ref})
		s.Discriminator.Mapping[string(t)] = ref
	}
	return s
}

// eventSchema returns the schema of one event type: the envelope whose data member is the payload of this type.
func eventSchema(r huma.Registry, t event.Type, envelope *huma.Schema) *huma.Schema {
	payload := reflect.TypeOf(webhook.SamplePayload(t, &domain.Webhook{}, time.Time{}))
	data := r.Schema(payload, true, payload.Name())
	if plain := r.SchemaFromRef(data.Ref); plain != nil && payload.PkgPath() == reflect.TypeFor[event.Event]().PkgPath() {
		plain.AdditionalProperties = true // test events add test: true, and later versions may add members
	}
	s := &huma.Schema{
		Type: huma.TypeObject, Description: "The event " + string(t) + ".", Required: envelope.Required, AdditionalProperties: false,
		Properties: make(map[string]*huma.Schema, len(envelope.Properties)),
	}
	for name, p := range envelope.Properties {
		own := *p
		s.Properties[name] = &own
	}
	s.Properties["type"] = &huma.Schema{Type: huma.TypeString, Enum: []any{string(t)}, Description: "The type of the event."}
	s.Properties["data"] = &huma.Schema{AllOf: []*huma.Schema{data}, Description: envelope.Properties["data"].Description}
	s.PrecomputeMessages()
	return s
}

// exampleAt returns the fixed time that example events in the OpenAPI document show.
func exampleAt() time.Time { return time.Date(2026, time.January, 31, 9, 30, 0, 0, time.UTC) }

// DescribeEvents adds the events to the webhooks section of the OpenAPI document.
func DescribeEvents(b *router.Registry) {
	o := b.API.OpenAPI()
	b.Constraints.SetEnums()
	endpoint := &domain.Webhook{URL: "https://example.com/hook"}
	endpoint.ID, endpoint.WorkspaceID, endpoint.Environment = "wh_"+router.ExampleULID, "ws_"+router.ExampleULID, domain.Live
	o.Webhooks = make(map[string]*huma.PathItem)
	for _, t := range event.Types() {
		subject := webhook.SampleSubject(t, endpoint)
		if subject == "" {
			subject = endpoint.ID
		}
		data, err := domain.EncodeJSON(webhook.SamplePayload(t, endpoint, exampleAt()))
		if err != nil {
			panic("httpapi: the example of " + string(t) + " cannot be written: " + err.Error())
		}
		o.Webhooks[string(t)] = &huma.PathItem{Post: &huma.Operation{
			OperationID: "on" + strings.TrimSuffix(eventSchemaName(t), "Event"), Method: http.MethodPost, Tags: []string{"Events"},
			Summary:     "The event " + string(t),
			Description: "Sent to endpoints that subscribe to this event, its category or *. docs/webhooks.md describes signatures and retries.",
			Security:    []map[string][]string{},
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{fiber.MIMEApplicationJSON: {
				Schema: &huma.Schema{Ref: "#/components/schemas/" + eventSchemaName(t)},
				Example: map[string]any{
					"id": "evt_" + router.ExampleULID, "type": t, "created_at": router.ExampleTime, "workspace_id": endpoint.WorkspaceID, "svc_id": domain.UnitID(endpoint.WorkspaceID),
					"subject": subject, "sequence": 1, "data": json.RawMessage(data),
				},
			}}},
			Responses: map[string]*huma.Response{
				"2XX": {Description: "The endpoint has received the event."},
				"4XX": {Description: "Final: the event is not sent again."},
				"5XX": {Description: "The event is sent again: 5 attempts in all."},
			},
		}}
	}
}
