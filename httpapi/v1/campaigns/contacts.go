package campaigns

import (
	"context"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/intake"
	"github.com/callboard/callboard/httpapi/router"
	contactsservice "github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// Contacts are the people of a campaign.
type Contacts interface {
	// ContactVariables are the variables that the pathway of a campaign declares.
	ContactVariables(ctx context.Context, p domain.Principal, campaignID string) ([]string, error)
	// UploadContacts reads rows to their end, storing as it goes, in bounded
	// memory. An error among the rows (the client went away, a malformed
	// stream) ends the upload and is returned; RawContact.Problem only counts.
	UploadContacts(ctx context.Context, p domain.Principal, campaignID string, upload contactlist.ContactRows) (contactlist.UploadSummary, error)
	ListContacts(ctx context.Context, p domain.Principal, campaignID string, q contactsservice.Query) (record.Page[contactlist.Contact], error)
	// ExportContacts walks the contacts in a state ("": all) in the order of
	// upload, as they are while it goes on.
	ExportContacts(ctx context.Context, p domain.Principal, campaignID, status string) (contactlist.ContactsExport, error)
	Contact(ctx context.Context, p domain.Principal, campaignID, contactID string) (contactlist.Contact, error)
	// UpdateContact and DeleteContact are for contacts that wait (pending,
	// retry_wait): else invalid_state with current_status. One that is deleted
	// counts as cancelled. A number that another contact has is already_exists.
	UpdateContact(ctx context.Context, p domain.Principal, campaignID, contactID string, change func(*domain.Contact) error) (contactlist.Contact, error)
	DeleteContact(ctx context.Context, p domain.Principal, campaignID, contactID string) error
	// ListUploads and Upload tell of uploads, also while they are received.
	ListUploads(ctx context.Context, p domain.Principal, campaignID string, page record.PageQuery) (record.Page[*domain.Upload], error)
	Upload(ctx context.Context, p domain.Principal, campaignID, id string) (*domain.Upload, error)
	// CampaignResults walks all contacts in the order of upload. The walk goes
	// on after the call returned, until the last row or until ctx ends.
	CampaignResults(ctx context.Context, p domain.Principal, campaignID string) (iter.Seq2[contactlist.ResultRow, error], error)
}

// contactHandlers serves the operations of contacts.
type contactHandlers struct {
	*router.Router

	contacts Contacts
}

// ContactsUpload is a list of contacts in JSON.
type ContactsUpload struct {
	Contacts []NewContact `json:"contacts" nullable:"false"`
}

// registerContacts registers the operations of contacts.
func registerContacts(r *router.Router, contacts Contacts) {
	s := &contactHandlers{Router: r, contacts: contacts}
	const tag = "Campaigns"
	s.AddRaw(router.Operation{
		Method: http.MethodPost, Path: "/v1/campaigns/{id}/contacts", ID: "addContacts", Tag: tag,
		Summary: "Add contacts to a campaign",
		Description: "Takes JSON, one JSON object per line, or CSV, all streamed and as large as 1 GB, up to 1,000,000 contacts per campaign. " +
			"CSV has a header row with a column phone, optionally timezone, country and name; every other column becomes context. " +
			"Headers match the variables that the pathway declares without regard to case, spaces and punctuation: \"First Name\" gives first_name; two columns for one variable are 422. " +
			"A column that matches no variable is kept in the context under its own name. The response shows the result: columns, unmapped and missing. " +
			"A row that lacks a required variable does not become a contact and is listed in contact_errors. " +
			"UTF-8 or UTF-16, or the charset of the Content-Type; commas, semicolons or tabs; what spreadsheets add (a line sep=;, a byte order mark, empty columns and rows) is understood. " +
			"Columns of other names are named by phone_column, timezone_column, country_column and name_column, in the query or in fields before the file. " +
			"multipart/form-data takes one such file; a second one is 422. Rows that cannot be used are counted and the first 100 of them told; the first of duplicates wins. " +
			"An upload counts as a whole or not at all; GET …/uploads shows how far it is. A campaign that is running goes on with the new contacts at once.",
	}, s.describeUpload, s.addContacts)
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/v1/campaigns/{id}/contacts", ID: "listContacts", Tag: tag, Summary: "List a campaign's contacts, in the order of upload",
		Description: "created_at of a contact is when its upload began.",
	},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			router.Paging
			Status string `query:"status" enum:"pending,dialing,retry_wait,completed,confirmed,declined,voicemail,no_answer,busy,failed,skipped,expired,cancelled,in_call"`
		},
		) (*router.Response[router.List[contactlist.Contact]], error) {
			id, err := router.PathID(domain.PrefixCampaign, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.contacts.ListContacts(ctx, p, id, contactsservice.Query{Limit: in.Limit, Cursor: in.Cursor, Status: in.Status, Created: in.CreatedBetween()})
			return router.Page(l, err, router.Identity)
		})
	s.registerSingleContact(tag)
	s.registerUploads(tag)
	s.registerExport(tag)
	s.registerResults()
}

// OneContact names a contact in the path.
type OneContact struct {
	router.IDParam
	ContactID string `path:"contact_id" doc:"The contact's id."`
}

// ids are both, checked.
func (o OneContact) ids() (campaign, contact string, err error) {
	if campaign, err = router.PathID(domain.PrefixCampaign, o.ID); err == nil {
		contact, err = router.PathID(domain.PrefixContact, o.ContactID)
	}
	return campaign, contact, err
}

// apply writes the settings to a contact.
func (n *NewContact) apply(c *domain.Contact) error {
	c.Phone, c.Context, c.Timezone, c.Country = n.Phone, n.Context, n.Timezone, n.Country
	return nil
}

func (s *contactHandlers) registerSingleContact(tag string) {
	const path = "/v1/campaigns/{id}/contacts/{contact_id}"
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "getContact", Tag: tag, Summary: "Get a contact of a campaign"},
		func(ctx context.Context, p domain.Principal, in *OneContact) (*router.Response[contactlist.Contact], error) {
			campaign, contact, err := in.ids()
			if err != nil {
				return nil, err
			}
			return router.Respond(s.contacts.Contact(ctx, p, campaign, contact))
		})
	router.Add(s.Router, router.Operation{
		Method: http.MethodPatch, Path: path, ID: "updateContact", Tag: tag, Summary: "Change a contact that waits",
		Description: "Only while it is pending or retry_wait. The very next attempt uses what was changed.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		OneContact
		Body router.Patch[NewContact]
	},
	) (*router.Response[contactlist.Contact], error) {
		campaign, contact, err := in.ids()
		if err != nil {
			return nil, err
		}
		router.SetResourceID(ctx, contact)
		return router.Respond(s.contacts.UpdateContact(ctx, p, campaign, contact, router.PatchFunc(s.Registry, &in.Body, (*NewContact).apply)))
	})
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path, ID: "deleteContact", Tag: tag, Errors: []int{http.StatusConflict}, Summary: "Take a contact out of a campaign",
		Description: "Only while it is pending or retry_wait. It is not rung any more, counts as cancelled (reason removed), stays in lists and results, and is in no copy of the campaign.",
	}, func(ctx context.Context, p domain.Principal, in *OneContact) (*router.Response[router.Deleted], error) {
		campaign, contact, err := in.ids()
		if err != nil {
			return nil, err
		}
		router.SetResourceID(ctx, contact)
		return router.RespondDeleted(contact, "contact", s.contacts.DeleteContact(ctx, p, campaign, contact))
	})
}

func (s *contactHandlers) registerUploads(tag string) {
	const path = "/v1/campaigns/{id}/uploads"
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: path, ID: "listUploads", Tag: tag, Summary: "List the uploads of contacts to a campaign",
		Description: "Newest first. One that is still being received shows how far it is.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.IDParam
		router.Paging
	},
	) (*router.Response[router.List[domain.Upload]], error) {
		id, err := router.PathID(domain.PrefixCampaign, in.ID)
		if err != nil {
			return nil, err
		}
		l, err := s.contacts.ListUploads(ctx, p, id, in.Query())
		return router.Page(l, err, router.ValueOrZero)
	})
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: path + "/{upload_id}", ID: "getUpload", Tag: tag, Summary: "See how far an upload is, or what became of it",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.IDParam
		UploadID string `path:"upload_id" doc:"The upload's id."`
	},
	) (*router.Response[*domain.Upload], error) {
		id, err := router.PathID(domain.PrefixCampaign, in.ID)
		if err != nil {
			return nil, err
		}
		upload, err := router.PathID(domain.PrefixUpload, in.UploadID)
		if err != nil {
			return nil, err
		}
		return router.Respond(s.contacts.Upload(ctx, p, id, upload))
	})
}

func (s *contactHandlers) describeUpload(h *huma.Operation) {
	text := &huma.Schema{Type: huma.TypeString}
	file := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"file": {Type: huma.TypeString, Format: "binary"}}}
	for _, field := range intake.BuiltinFields() {
		about := "The name of the CSV column that holds the " + field + ", as the first row writes it. Default: " + field + ". With another name, a column named " + field + " becomes context as file_" + field + ". JSON ignores this."
		h.Parameters = append(h.Parameters, &huma.Param{Name: field + columnParam, In: "query", Description: about, Schema: &huma.Schema{Type: huma.TypeString, MaxLength: new(maxColumnName)}})
		file.Properties[field+columnParam] = &huma.Schema{Type: huma.TypeString, MaxLength: new(maxColumnName), Description: about}
	}
	bare := &huma.Schema{Type: huma.TypeArray, Items: router.SchemaOf[NewContact](s.API), Description: "The list of contacts alone."}
	h.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		fiber.MIMEApplicationJSON: {Schema: &huma.Schema{AnyOf: []*huma.Schema{router.SchemaOf[ContactsUpload](s.API), bare}}},
		router.MIMEJSONLines:      {Schema: text},
		router.MIMECSV:            {Schema: text, Example: "phone,name\n+12025550123,Ada\n"},
		fiber.MIMEMultipartForm:   {Schema: file},
	}}
	h.Responses["200"] = router.DescribeResponse("What became of the rows.", fiber.MIMEApplicationJSON, router.SchemaOf[contactlist.UploadSummary](s.API))
}

func (s *contactHandlers) addContacts(c *fiber.Ctx) error {
	id, err := router.PathID(domain.PrefixCampaign, c.Params("id"))
	if err != nil {
		return err
	}
	if enc := c.Get(fiber.HeaderContentEncoding); enc != "" && !strings.EqualFold(enc, "identity") {
		return domain.Errorf(domain.CodeUnsupportedMedia, "The body must not be compressed.")
	}
	return s.RunStreamOnce(c, func() error {
		v := router.RequestOf(c.UserContext())
		variables, err := s.contacts.ContactVariables(c.UserContext(), v.Principal, id)
		if err != nil {
			return err
		}
		columns := &intake.Columns{Named: make(intake.ColumnNames), Variables: variables}
		rows, err := s.rowsOf(c, columns)
		if err != nil {
			return err
		}
		// An upload takes as long as the client needs; the body has its own clock.
		ctx, cancel := context.WithCancel(s.Context(v))
		defer cancel()
		sum, err := s.contacts.UploadContacts(ctx, v.Principal, id, contactlist.ContactRows{Rows: router.RowsThenDrain(router.BodyOf(c), rows), Columns: &columns.Mapping})
		if err != nil {
			return err
		}
		sum.ColumnMapping = sum.WithoutNil()
		if sum.Errors == nil {
			sum.Errors = []domain.ContactError{}
		}
		return c.JSON(sum)
	})
}

const (
	columnParam   = "_column"
	maxColumnName = 1000 // bytes
)

// setColumnName sets which column of the file holds a field. An empty name sets
// nothing.
func setColumnName(names intake.ColumnNames, field, column string) error {
	if len(column) > maxColumnName {
		var p domain.Problems
		p.Add(field+columnParam, domain.CodeValidation, "has more than %d bytes", maxColumnName)
		return p.Err()
	}
	if column != "" {
		names[field] = column
	}
	return nil
}

// rowsOf are the contacts in a request, by its content type.
func (s *contactHandlers) rowsOf(c *fiber.Ctx, as *intake.Columns) (iter.Seq2[domain.RawContact, error], error) {
	b := router.BodyOf(c)
	kind, params, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil {
		kind = ""
	}
	for _, field := range intake.BuiltinFields() {
		if err = setColumnName(as.Named, field, c.Query(field+columnParam)); err != nil {
			return nil, err
		}
	}
	if kind == fiber.MIMEMultipartForm {
		return s.rowsOfForm(b, params["boundary"], as)
	}
	return s.rowsIn(b, kind, params["charset"], as)
}

func (s *contactHandlers) rowsIn(r io.Reader, kind, charset string, as *intake.Columns) (iter.Seq2[domain.RawContact, error], error) {
	switch kind {
	case router.MIMECSV:
		text, err := router.DecodeCharset(r, charset)
		if err != nil {
			return nil, err
		}
		return intake.CSVAs(text, as), nil
	case router.MIMEJSONLines, "application/ndjson", "application/jsonl", "application/x-jsonlines":
		return intake.NDJSON(r), nil
	case fiber.MIMEApplicationJSON:
		return intake.JSON(r), nil
	}
	return nil, domain.Errorf(domain.CodeUnsupportedMedia, "Contacts come as application/json, application/x-ndjson, text/csv or multipart/form-data.")
}
