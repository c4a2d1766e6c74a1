package campaigns

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/calls"
	"github.com/callboard/callboard/httpapi/v1/messaging"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/record"
)

// bulkHandlers serves the operations on bulk jobs.
type bulkHandlers struct {
	*router.Router

	jobs BulkJobs
}

// BulkJobs runs jobs with many items, such as calls to place, in the background.
type BulkJobs interface {
	// StartBulk stores a job. Its items run one after another, each exactly once, even if the process restarts. The job
	// reports invalid items. An unknown campaign or do-not-call list is a validation error (422).
	StartBulk(ctx context.Context, p domain.Principal, o bulk.NewJob) (*domain.Bulk, error)
	Bulk(ctx context.Context, p domain.Principal, id string) (*domain.Bulk, error)
	ListBulks(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Bulk], error)
	BulkItems(ctx context.Context, p domain.Principal, id string, q bulk.ItemQuery) (record.Page[*domain.BulkItem], error)
	// CancelBulk cancels a job. No further item starts after the method has returned.
	CancelBulk(ctx context.Context, p domain.Principal, id string) (*domain.Bulk, error)
}

// item is the JSON of one item of a bulk job. Each item is decoded separately, so that its errors do not affect other
// items.
type item[T any] struct{ text json.RawMessage }

// UnmarshalJSON stores the JSON text of the item without decoding it.
func (i *item[T]) UnmarshalJSON(b []byte) error {
	i.text = bytes.Clone(b)
	return nil
}

// Schema returns the schema of T, the type of the item.
func (i item[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// defaults is the JSON of the default members of all items of a bulk job. All members of T are optional in it.
type defaults[T any] struct{ text json.RawMessage }

// UnmarshalJSON stores the JSON text of the defaults without decoding it.
func (d *defaults[T]) UnmarshalJSON(b []byte) error {
	d.text = bytes.Clone(b)
	return nil
}

// Schema returns the schema of T with all members optional.
func (d defaults[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), false, "")
	s.Required = nil
	return &s
}

// NewBulkOf is the request body that starts a bulk job with items of type T and defaults of type D.
type NewBulkOf[D, T any] struct {
	Defaults defaults[D]       `json:"defaults,omitzero" doc:"Default members of every item."`
	Items    []item[T]         `json:"items" nullable:"false" minItems:"1" maxItems:"10000" doc:"At most 10,000."`
	Metadata map[string]string `json:"metadata,omitempty"`
	problems domain.Problems
}

// UnmarshalJSON decodes each member of the body separately, so that an error names its member.
func (b *NewBulkOf[D, T]) UnmarshalJSON(text []byte) error {
	var fields map[string]json.RawMessage
	if _ = json.Unmarshal(text, &fields); fields == nil { // JSON, but not an object
		b.problems.Add("body", domain.CodeValidation, "must be an object")
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch name {
		case "defaults":
			decodeJSON(fields[name], &b.Defaults, &b.problems, name)
		case "items":
			decodeJSON(fields[name], &b.Items, &b.problems, name)
		case "metadata":
			decodeJSON(fields[name], &b.Metadata, &b.problems, name)
		default:
			b.problems.Add(router.Truncate(name, 60), domain.CodeValidation, "is not a known member")
		}
	}
	return nil
}

// maxDefaults is the maximum product of the size of the defaults in bytes and the number of items. The defaults are
// decoded once per item.
const maxDefaults = 32 << 20

// NewBulkCalls is the request body of a bulk job that places calls.
type NewBulkCalls = NewBulkOf[calls.NewCallRequest, calls.NewCallRequest]

// NewBulkContacts is the request body of a bulk job that adds contacts to a campaign.
type NewBulkContacts = NewBulkOf[BulkContactDefaults, NewContact]

// NewBulkNumbers is the request body of a bulk job that adds numbers to a do-not-call list.
type NewBulkNumbers = NewBulkOf[BulkNumberDefaults, DNCNumber]

// NewBulkMessages is the request body of a bulk job that sends text messages.
type NewBulkMessages = NewBulkOf[messaging.NewMessage, messaging.NewMessage]

// BulkContactDefaults are the campaign to which the contacts are added, and the default members of the contacts.
type BulkContactDefaults struct {
	CampaignID string         `json:"campaign_id" doc:"The campaign that the contacts are added to. Required."`
	Context    domain.Context `json:"context,omitempty"`
	Timezone   string         `json:"timezone,omitempty"`
	Country    string         `json:"country,omitempty"`
}

// BulkNumberDefaults are the do-not-call list to which the numbers are added, and the default members of the numbers.
type BulkNumberDefaults struct {
	ListID  string `json:"list_id,omitempty" doc:"The list that gets the numbers. Default: the default list."`
	Country string `json:"country,omitempty"`
}

// decodeJSON decodes text into a value that may already hold defaults. Problems that it adds have the parameter path at,
// followed by the path of the wrong member.
func decodeJSON(text json.RawMessage, into any, problems *domain.Problems, at string) {
	if len(text) == 0 {
		return
	}
	e, wrong := errors.AsType[*domain.Error](domain.DecodeJSON(text, into))
	if !wrong {
		return
	}
	message := strings.TrimPrefix(e.Message, "the value ") // the field name precedes the message
	if e.Param != "" {
		at = strings.Trim(at+"."+e.Param, ".")
	}
	problems.Add(at, domain.CodeValidation, "%s", message)
}

// bulkOf returns the job that the request body describes, and its decoded defaults. start creates an item from the
// defaults. each converts an item and adds the problems of the item.
func bulkOf[D, T any](b *NewBulkOf[D, T], kind domain.BulkType, check func(*D, *domain.Problems), start func(*D) T, each func(*T, *domain.Problems) bulk.NewItem) (bulk.NewJob, *D, error) {
	out := bulk.NewJob{Type: kind, Metadata: b.Metadata}
	problems := b.problems
	base := new(D)
	decodeJSON(b.Defaults.text, base, &problems, "defaults")
	if len(b.Defaults.text)*len(b.Items) > maxDefaults {
		problems.Add("defaults", domain.CodeValidation, "have %d bytes for each of %d items; the total must not exceed %d MB", len(b.Defaults.text), len(b.Items), maxDefaults>>20)
	}
	validation.Metadata(&problems, b.Metadata)
	if n := len(b.Items); n == 0 || n > domain.MaxBulkItems {
		problems.Add("items", domain.CodeValidation, "has %d entries; 1 to %d are allowed", n, domain.MaxBulkItems)
	}
	if len(problems) == 0 && check != nil {
		check(base, &problems)
	}
	if len(problems) == 0 && len(b.Defaults.text) > 0 {
		checkDefaults(b.Defaults.text, start, each, &problems)
	}
	if err := problems.Err(); err != nil {
		return out, nil, err
	}
	out.Items = make([]bulk.NewItem, len(b.Items))
	for i, text := range b.Items {
		var itemProblems domain.Problems
		if bytes.Equal(text.text, []byte("null")) {
			itemProblems.Add("", domain.CodeValidation, "must be an object")
		}
		fresh := new(D) // a fresh copy, because decoding the item changes it
		decodeJSON(b.Defaults.text, fresh, &itemProblems, "defaults")
		one := start(fresh)
		if decodeJSON(text.text, &one, &itemProblems, ""); len(itemProblems) == 0 {
			out.Items[i] = each(&one, &itemProblems)
		}
		if len(itemProblems) > 0 {
			out.Items[i] = bulk.NewItem{Error: &domain.BulkError{Index: i, Code: itemProblems[0].Code, Message: itemProblems[0].Message, Param: itemProblems[0].Param}}
		}
	}
	return out, base, nil
}

// checkDefaults validates the defaults by the rules of an item. It ignores missing members, because the items may have
// them.
func checkDefaults[D, T any](text json.RawMessage, start func(*D) T, each func(*T, *domain.Problems) bulk.NewItem, problems *domain.Problems) {
	var wrong domain.Problems
	base := new(D) // a separate copy of the defaults, because each changes it
	decodeJSON(text, base, &wrong, "defaults")
	one := start(base)
	each(&one, &wrong)
	for _, w := range wrong {
		if hasField(text, w.Param) {
			problems.Add("defaults."+w.Param, w.Code, "%s", w.Message)
		}
	}
}

// hasField reports whether an object has the field at a path, such as amd.mode or list[2].
func hasField(object json.RawMessage, path string) bool {
	var at any
	if json.Unmarshal(object, &at) != nil {
		return false
	}
	for name := range strings.SplitSeq(path, ".") {
		name, _, _ = strings.Cut(name, "[")
		of, ok := at.(map[string]any)
		if !ok {
			return false
		}
		if at, ok = of[name]; !ok {
			return false
		}
	}
	return true
}

// registerBulk registers the routes for bulk jobs.
func registerBulk(r *router.Router, jobs BulkJobs) {
	s := &bulkHandlers{Router: r, jobs: jobs}
	const tag, path = "Bulk", "/v1/bulk"
	const about = "Responds at once. The items run one after another, each exactly once, even if the service restarts. " +
		"The error of an item has its index (from 0) and its field. This response lists up to 1,000 errors, …/items lists all. " +
		"An invalid item is rejected and does not stop other items."
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/calls", ID: "bulkCalls", Tag: tag, Status: http.StatusAccepted, SkipValidation: true, Summary: "Place many calls",
		Description: about + " Calls share concurrent calls and the plan's calls per minute fairly with campaigns. They wait and are never refused because of these limits. " +
			"A call outside its compliance.calling_hours is `waiting` until they start, and does not delay other calls. Do-not-call lists are checked again right before the call is placed.",
	}, s.bulkCalls)
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/contacts", ID: "bulkContacts", Tag: tag, Status: http.StatusAccepted, SkipValidation: true, Summary: "Add many contacts to a campaign",
		Description: about + " Set the campaign in defaults.campaign_id.",
	}, s.bulkContacts)
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/dnc", ID: "bulkNumbers", Tag: tag, Status: http.StatusAccepted, SkipValidation: true, Summary: "Add many numbers to a do-not-call list",
		Description: about,
	}, s.bulkNumbers)
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/sms", ID: "bulkSMS", Tag: tag, Status: http.StatusAccepted, SkipValidation: true, Summary: "Send many text messages",
		Description: about + " With a live key, 409 no_sms_route if no trunk or gateway carries messages.",
	}, s.bulkMessages)
	s.registerReads(tag, path)
}

func (s *bulkHandlers) registerReads(tag, path string) {
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listBulks", Tag: tag, Summary: "List bulk jobs"},
		router.HandleList(s.jobs, BulkJobs.ListBulks, showBulk))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getBulk", Tag: tag, Summary: "Get a bulk job", Description: "A job is stored for 30 days after its end."},
		router.HandleByID(domain.PrefixBulk, s.jobs, BulkJobs.Bulk, showBulk))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}/items", ID: "listBulkItems", Tag: tag, Summary: "List the items of a bulk job in their order"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			router.Paging
			Status string `query:"status" enum:"pending,waiting,done,failed,rejected,cancelled" doc:"Filters by status."`
		},
		) (*router.Response[router.List[*BulkItem]], error) {
			id, err := router.PathID(domain.PrefixBulk, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.jobs.BulkItems(ctx, p, id, bulk.ItemQuery{Limit: in.Limit, Cursor: in.Cursor, Status: domain.BulkItemStatus(in.Status), Created: in.CreatedBetween()})
			return router.Page(l, err, showBulkItem)
		})
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/cancel", ID: "cancelBulk", Tag: tag, Summary: "Cancel the remaining items of a bulk job",
		Description: "Finished items and live calls are not affected. Repeating it has no effect. 409 invalid_state for a completed job.",
	}, router.HandleByID(domain.PrefixBulk, s.jobs, BulkJobs.CancelBulk, showBulk))
}

// BulkItem is an item of a bulk job as the API returns it.
type BulkItem struct {
	Object   string                `json:"object" enum:"bulk_item"`
	BulkID   string                `json:"bulk_id"`
	Index    int                   `json:"index" doc:"Index of the item, from 0."`
	Status   domain.BulkItemStatus `json:"status"`
	ResultID string                `json:"result_id,omitempty" doc:"Id of the created resource, e.g. a call."`
	Code     domain.Code           `json:"code,omitempty" doc:"Error code of a rejected or failed item."`
	Message  string                `json:"message,omitempty"`
	Param    string                `json:"param,omitempty" doc:"The field with the error."`
	Until    *time.Time            `json:"until,omitempty" doc:"When the calling hours of a waiting item start."`
	Created  time.Time             `json:"created_at" doc:"Creation time of the job."`
}

func showBulkItem(i *domain.BulkItem) *BulkItem {
	return &BulkItem{Object: "bulk_item", BulkID: i.BulkID, Index: i.Index, Status: i.Status, ResultID: i.ResultID, Code: i.Code, Message: i.Message, Param: i.Param, Until: i.Until, Created: i.CreatedAt}
}

// showBulk returns a copy of a job without the members that the API does not show.
func showBulk(b *domain.Bulk) *domain.Bulk {
	shown := *b
	shown.Next, shown.Operator, shown.KeyID = 0, false, ""
	return &shown
}

func shownBulk(b *domain.Bulk, err error) (*router.Response[*domain.Bulk], error) {
	if err != nil {
		return nil, err
	}
	return router.Respond(showBulk(b), nil)
}

func (s *bulkHandlers) startBulk(ctx context.Context, p domain.Principal, o bulk.NewJob, err error) (*router.Response[*domain.Bulk], error) {
	if err != nil {
		return nil, err
	}
	b, err := s.jobs.StartBulk(ctx, p, o)
	if err != nil {
		return nil, err
	}
	router.SetResourceID(ctx, b.ID)
	return shownBulk(b, nil)
}

func (s *bulkHandlers) bulkCalls(ctx context.Context, p domain.Principal, in *struct{ Body NewBulkCalls }) (*router.Response[*domain.Bulk], error) {
	limits, err := router.ValidationLimits(ctx, s.Router, p)
	if err != nil {
		return nil, err
	}
	o, _, err := bulkOf(&in.Body, domain.BulkCalls, nil, func(d *calls.NewCallRequest) calls.NewCallRequest { return *d },
		func(item *calls.NewCallRequest, problems *domain.Problems) bulk.NewItem {
			order := item.Order(limits, problems)
			return bulk.NewItem{Call: &order}
		})
	return s.startBulk(ctx, p, o, err)
}

func (s *bulkHandlers) bulkContacts(ctx context.Context, p domain.Principal, in *struct{ Body NewBulkContacts }) (*router.Response[*domain.Bulk], error) {
	o, base, err := bulkOf(&in.Body, domain.BulkContacts, func(d *BulkContactDefaults, problems *domain.Problems) {
		if d.CampaignID == "" {
			problems.Add("defaults.campaign_id", domain.CodeValidation, "is required")
		}
		d.CampaignID = validation.ID(problems, "defaults.campaign_id", domain.PrefixCampaign, d.CampaignID)
	}, func(d *BulkContactDefaults) NewContact {
		return NewContact{Context: d.Context, Timezone: d.Timezone, Country: d.Country}
	}, func(item *NewContact, itemProblems *domain.Problems) bulk.NewItem {
		validation.Text(itemProblems, "phone", item.Phone, true, 64)
		validation.Text(itemProblems, "country", item.Country, false, 2)
		return bulk.NewItem{Contact: &domain.RawContact{Phone: item.Phone, Context: item.Context, Timezone: item.Timezone, Country: item.Country}}
	})
	if err == nil {
		o.Target = base.CampaignID
	}
	return s.startBulk(ctx, p, o, err)
}

func (s *bulkHandlers) bulkMessages(ctx context.Context, p domain.Principal, in *struct{ Body NewBulkMessages }) (*router.Response[*domain.Bulk], error) {
	o, _, err := bulkOf(&in.Body, domain.BulkSMS, nil, func(d *messaging.NewMessage) messaging.NewMessage { return *d },
		func(item *messaging.NewMessage, problems *domain.Problems) bulk.NewItem {
			order := item.Order(problems)
			return bulk.NewItem{Message: &order}
		})
	return s.startBulk(ctx, p, o, err)
}

func (s *bulkHandlers) bulkNumbers(ctx context.Context, p domain.Principal, in *struct{ Body NewBulkNumbers }) (*router.Response[*domain.Bulk], error) {
	o, base, err := bulkOf(&in.Body, domain.BulkDNC, func(d *BulkNumberDefaults, problems *domain.Problems) {
		d.ListID = validation.ID(problems, "defaults.list_id", domain.PrefixDNC, d.ListID)
	}, func(d *BulkNumberDefaults) DNCNumber { return DNCNumber{Country: d.Country} },
		func(item *DNCNumber, itemProblems *domain.Problems) bulk.NewItem {
			validation.Text(itemProblems, "phone", item.Phone, true, 64)
			validation.Text(itemProblems, "country", item.Country, false, 2)
			return bulk.NewItem{Number: &domain.RawNumber{Phone: item.Phone, Country: item.Country}}
		})
	if err == nil {
		o.Target = base.ListID
	}
	return s.startBulk(ctx, p, o, err)
}
