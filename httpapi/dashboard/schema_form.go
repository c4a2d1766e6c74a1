package dashboard

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Schemas gives the schemas of the API's request bodies, from which the forms of the dashboard are made.
type Schemas interface {
	// BodySchema returns the schema of the body of an operation, nil if it has none.
	BodySchema(method, path string) *huma.Schema
	// Members returns a schema without references, and the names of its members in their order.
	Members(schema *huma.Schema) (resolved *huma.Schema, names []string)
}

// schemaForm is a form that has a field for each member of the body of an API operation.
type schemaForm struct {
	Method, Path string            // the operation
	Hidden       []string          // members without a field
	Texts        []string          // members with several lines
	Main         []string          // members that are shown at once, besides the required ones; the others are under "More settings". Empty: all
	Open         []string          // groups of fields that are shown at once; the others are folded
	Labels       map[string]string // labels that differ from those of labelOf
	Hints        map[string]string // hints that differ from the description of the member
}

// Kinds of form fields.
const (
	lineField     = "line"
	numberField   = "number"
	textField     = "text"
	linesField    = "lines" // a list of texts, one a line
	pairsField    = "pairs" // names and values, one pair a line
	tickField     = "tick"
	choiceField   = "choice"
	choicesField  = "choices"
	secretField   = "secret"
	timeField     = "time"
	jsonField     = "json"
	groupField    = "group"
	rowsField     = "rows"
	maxFormDepth  = 5
	emptyFormRows = 1    // rows for new entries of a list
	longText      = 2500 // characters; URLs have fewer
)

// formField is a field of a form, or a group of fields.
type formField struct {
	Name, Kind            string // Name is the path of the member, such as "inbound.auth.username"
	Label, Hint, Error    string
	Values                []string
	Options               []option
	Placeholder, Min, Max string
	None                  string // label of the empty option
	Required, Open        bool
	Fields                []formField   // of a group
	Rows                  [][]formField // of a list of objects
	Suggestions           string        // id of a list of suggestions
}

// Value returns the value of a field with one value.
func (f formField) Value() string {
	if len(f.Values) == 0 {
		return ""
	}
	return f.Values[0]
}

// Lines returns the values as lines.
func (f formField) Lines() string { return strings.Join(f.Values, "\n") }

// Has reports whether a value is among those of the field.
func (f formField) Has(value string) bool { return slices.Contains(f.Values, value) }

// ID returns the HTML id of the field.
func (f formField) ID() string { return "f-" + strings.ReplaceAll(f.Name, ".", "-") }

// option is a value that a field can have.
type option struct{ Value, Label string }

// references are the members that hold IDs, with the API list of the resources.
func references() map[string]string {
	return map[string]string{
		"agent_id": "/v1/agents", "pathway_id": "/v1/pathways", "knowledge_base_ids": "/v1/knowledge-base", "campaign_id": "/v1/campaigns", "trunk_id": "/v1/trunks",
		"dnc_list_ids": "/v1/dnc-lists", "dnc_list_id": "/v1/dnc-lists", "tool_ids": "/v1/tools", "provider_id": "/v1/providers", "gateway_id": "/v1/sms-gateways",
	}
}

// secretMembers are members whose values are not shown again.
func secretMembers() []string {
	return []string{"password", "secret", "token", "auth_token", "api_key"}
}

// textMembers are members with several lines in every form.
func textMembers() []string {
	return []string{"description", "instructions", "success_criteria", "message", "prompt", "system_prompt", "first_message", "text", "notes", "body"}
}

// formBuilder makes the fields of a form.
type formBuilder struct {
	schemaForm
	request *Request
	values  url.Values
	problem *problem
	used    map[string]bool // parameters of the problem that stand at a field
}

// fields returns the fields of the form with their values, and the errors of a problem at their fields. It returns the
// messages that belong to no field.
func (f schemaForm) fields(r *Request, values url.Values, p *problem) (all []formField, others []string, err error) {
	schema := r.Schemas.BodySchema(f.Method, f.Path)
	if schema == nil {
		return nil, nil, fmt.Errorf("dashboard: %s %s has no body", f.Method, f.Path)
	}
	b := &formBuilder{schemaForm: f, request: r, values: values, problem: p, used: map[string]bool{}}
	if all, err = b.members(schema, "", 0); err != nil {
		return nil, nil, err
	}
	if p != nil {
		others = p.messagesWithout(b.used)
	}
	return f.withMoreSettings(all), others, nil
}

// withMoreSettings moves the fields that are not shown at once into a group at the end.
func (f schemaForm) withMoreSettings(all []formField) []formField {
	if len(f.Main) == 0 {
		return all
	}
	more := formField{Name: "more", Kind: groupField, Label: "More settings"}
	var main []formField
	for _, field := range all {
		if field.Required || slices.Contains(f.Main, field.Name) {
			main = append(main, field)
			continue
		}
		more.Fields = append(more.Fields, field)
		more.Open = more.Open || field.Error != "" || field.Open
	}
	if len(more.Fields) == 0 {
		return main
	}
	return append(main, more)
}

// members returns the fields of the members of an object.
func (b *formBuilder) members(schema *huma.Schema, prefix string, depth int) (all []formField, err error) {
	resolved, names := b.request.Schemas.Members(schema)
	for _, name := range names {
		path := prefix + name
		if slices.Contains(b.Hidden, path) || resolved.Properties[name].ReadOnly {
			continue
		}
		field, err := b.field(resolved.Properties[name], path, depth)
		if err != nil {
			return nil, err
		}
		field.Required = slices.Contains(resolved.Required, name)
		all = append(all, field)
	}
	return all, nil
}

// field returns the field of a member.
func (b *formBuilder) field(schema *huma.Schema, path string, depth int) (f formField, err error) {
	name := path[strings.LastIndexByte(path, '.')+1:]
	resolved, _ := b.request.Schemas.Members(schema)
	f = formField{Name: path, Label: labelOf(name), Hint: schema.Description, Values: b.values[path], Kind: b.kind(resolved, path, depth)}
	if f.Hint == "" {
		f.Hint = resolved.Description
	}
	if label := b.Labels[path]; label != "" {
		f.Label = label
	}
	if f.Hint == "Name for people." {
		f.Hint = ""
	}
	if hint, ok := b.Hints[path]; ok {
		f.Hint = hint
	}
	if resolved.Default != nil {
		f.Placeholder = fmt.Sprint(resolved.Default)
	}
	for _, bound := range []struct {
		of  *float64
		out *string
	}{{resolved.Minimum, &f.Min}, {resolved.Maximum, &f.Max}} {
		if bound.of != nil {
			*bound.out = strconv.FormatFloat(*bound.of, 'f', -1, 64)
		}
	}
	f.Hint = plainHint(f.Hint)
	f.Error = b.errorAt(path, f.Label)
	f.Open = slices.Contains(b.Open, path) || f.Error != ""
	switch f.Kind {
	case choiceField, choicesField:
		f.Options, err = b.options(resolved, name)
		f.None = "Default"
		if references()[name] != "" {
			f.None = "None"
			if b.Hints[path] == "" {
				f.Hint = ""
			}
		}
	case groupField:
		f.Fields, err = b.members(schema, path+".", depth+1)
		f.Open = f.Open || slices.ContainsFunc(f.Fields, func(x formField) bool { return x.Error != "" || x.Open })
	case rowsField:
		f.Rows, err = b.rows(resolved.Items, path, depth)
		f.Open = f.Open || slices.ContainsFunc(f.Rows, func(row []formField) bool {
			return slices.ContainsFunc(row, func(x formField) bool { return x.Error != "" })
		})
	case tickField:
		if len(f.Values) == 0 && !b.values.Has(sentField) && isOnByDefault(schema, resolved) {
			f.Values = []string{"true"}
		}
	case lineField:
		f.Suggestions = map[string]string{"timezone": "zones", "language": "languages", "country": "countries", "default_country": "countries", "number_country": "countries"}[name]
	}
	return f, err
}

// kind returns the kind of the field for a member.
func (b *formBuilder) kind(s *huma.Schema, path string, depth int) string {
	name := path[strings.LastIndexByte(path, '.')+1:]
	switch {
	case depth > maxFormDepth:
		return jsonField
	case s.Type == huma.TypeBoolean:
		return tickField
	case s.Type == huma.TypeInteger || s.Type == huma.TypeNumber:
		return numberField
	case s.Type == huma.TypeString && (len(s.Enum) > 0 || references()[name] != ""):
		return choiceField
	case s.Type == huma.TypeString && s.Format == "date-time":
		return timeField
	case s.Type == huma.TypeString && slices.Contains(secretMembers(), name):
		return secretField
	case s.Type == huma.TypeString && (slices.Contains(b.Texts, path) || slices.Contains(textMembers(), name) || s.MaxLength != nil && *s.MaxLength > longText):
		return textField
	case s.Type == huma.TypeString:
		return lineField
	case s.Type == huma.TypeArray && s.Items != nil:
		return b.listKind(s, name)
	case s.Type == huma.TypeObject && len(s.Properties) > 0:
		return groupField
	case s.Type == huma.TypeObject && s.AdditionalProperties != nil:
		if of, ok := s.AdditionalProperties.(*huma.Schema); ok && of.Type == huma.TypeString {
			return pairsField
		}
	}
	return jsonField
}

// listKind returns the kind of the field for a list.
func (b *formBuilder) listKind(s *huma.Schema, name string) string {
	items, _ := b.request.Schemas.Members(s.Items)
	switch {
	case items.Type == huma.TypeString && (len(items.Enum) > 0 || references()[name] != ""):
		return choicesField
	case items.Type == huma.TypeString:
		return linesField
	case items.Type == huma.TypeObject && len(items.Properties) > 0:
		return rowsField
	}
	return jsonField
}

// options returns the values that a member can have: those of the schema, or the resources of the workspace.
func (b *formBuilder) options(s *huma.Schema, name string) (all []option, err error) {
	if list := references()[name]; list != "" {
		l, err := b.request.first(list)
		if err != nil && !isNotVisible(err) {
			return nil, err
		}
		for _, o := range l.Data {
			all = append(all, option{text(o, "id"), text(o, "name")})
		}
		return all, nil
	}
	values := s.Enum
	if s.Items != nil {
		items, _ := b.request.Schemas.Members(s.Items)
		values = items.Enum
	}
	for _, v := range values {
		all = append(all, option{fmt.Sprint(v), labelOf(fmt.Sprint(v))})
	}
	return all, nil
}

// rows returns the fields of each entry of a list of objects, and of an empty entry for a new one.
func (b *formBuilder) rows(items *huma.Schema, path string, depth int) (all [][]formField, err error) {
	for i := range formRows(b.values, path) + emptyFormRows {
		row, err := b.members(items, path+"."+strconv.Itoa(i)+".", depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, nil
}

// formRows returns how many entries of a list of objects the values have.
func formRows(values url.Values, path string) int {
	n := 0
	for name := range values {
		if rest, ok := strings.CutPrefix(name, path+"."); ok {
			index, _, _ := strings.Cut(rest, ".")
			if i, err := strconv.Atoi(index); err == nil && i < 200 {
				n = max(n, i+1)
			}
		}
	}
	return n
}

// errorAt returns the message of the problem for a field, with the label of the field in place of the parameter.
func (b *formBuilder) errorAt(path, label string) string {
	if b.problem == nil {
		return ""
	}
	param := apiParam(path)
	for _, d := range b.problem.all() {
		if d.Param == param || d.Param == path {
			b.used[d.Param] = true
			return sentenceFor(d.Message, d.Param, label)
		}
	}
	return ""
}

// apiParam converts the path of a form field to the name of the parameter in an error of the API: "proxies.0.host" is
// "proxies[0].host" there.
func apiParam(path string) string {
	var out strings.Builder
	for i, part := range strings.Split(path, ".") {
		if _, err := strconv.Atoi(part); err == nil {
			out.WriteString("[" + part + "]")
			continue
		}
		if i > 0 {
			out.WriteByte('.')
		}
		out.WriteString(part)
	}
	return out.String()
}

// formValues returns the values that a form for a resource has before somebody changes them.
func formValues(o object, zone *time.Location) url.Values {
	values := url.Values{}
	addFormValues(values, "", o, zone)
	return values
}

func addFormValues(values url.Values, path string, v any, zone *time.Location) {
	switch v := v.(type) {
	case nil:
	case object:
		pairs := path != ""
		for _, name := range slices.Sorted(maps.Keys(v)) {
			addFormValues(values, strings.TrimPrefix(path+"."+name, "."), v[name], zone)
			_, isText := v[name].(string)
			pairs = pairs && isText
		}
		if pairs {
			for _, name := range slices.Sorted(maps.Keys(v)) {
				values.Add(path, name+": "+text(v, name))
			}
		}
	case []any:
		for i, one := range v {
			if s, ok := one.(string); ok {
				values.Add(path, s)
			} else {
				addFormValues(values, path+"."+strconv.Itoa(i), one, zone)
			}
		}
	case bool:
		if v {
			values.Set(path, "true")
		}
	case string:
		values.Set(path, v)
		if t, err := time.Parse(time.RFC3339Nano, v); err == nil && strings.HasSuffix(path, "_at") {
			values.Set(path, t.In(zone).Format("2006-01-02T15:04"))
		}
	default:
		if b, err := json.Marshal(v); err == nil {
			values.Set(path, string(b))
		}
	}
}
