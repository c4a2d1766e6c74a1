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

// Contacts manages the contacts of campaigns.
type Contacts interface {
	// ContactVariables returns the variables that the pathway of a campaign declares.
	ContactVariables(ctx context.Context, p domain.Principal, campaignID string) ([]string, error)
	// UploadContacts reads and stores all contacts with bounded memory. An error of the row iterator, such as a closed
	// connection, ends the upload and is returned. A contact row with a Problem is counted and not stored.
	UploadContacts(ctx context.Context, p domain.Principal, campaignID string, upload contactlist.ContactRows) (contactlist.UploadSummary, error)
	ListContacts(ctx context.Context, p domain.Principal, campaignID string, q contactsservice.Query) (record.Page[contactlist.Contact], error)
	// ExportContacts returns the contacts with a status, or all for "", in the order of upload. The iterator reads the
	// store while the export runs, so the export can include later changes.
	ExportContacts(ctx context.Context, p domain.Principal, campaignID, status string) (contactlist.ContactsExport, error)
	Contact(ctx context.Context, p domain.Principal, campaignID, contactID string) (contactlist.Contact, error)
	// UpdateContact and DeleteContact change a contact that is pending or in retry_wait. Other states are an
	// invalid_state error with current_status. A deleted contact counts as cancelled. A phone number that another
	// contact of the campaign has is an already_exists error.
	UpdateContact(ctx context.Context, p domain.Principal, campaignID, contactID string, change func(*domain.Contact) error) (contactlist.Contact, error)
	DeleteContact(ctx context.Context, p domain.Principal, campaignID, contactID string) error
	// ListUploads and Upload return uploads, including those in progress.
	ListUploads(ctx context.Context, p domain.Principal, campaignID string, page record.PageQuery) (record.Page[*domain.Upload], error)
	Upload(ctx context.Context, p domain.Principal, campaignID, id string) (*domain.Upload, error)
	// CampaignResults returns all contacts in the order of upload. The caller can iterate over the result rows after the
	// method has returned, until ctx ends.
	CampaignResults(ctx context.Context, p domain.Principal, campaignID string) (iter.Seq2[contactlist.ResultRow, error], error)
}

// contactHandlers serves the operations of contacts.
type contactHandlers struct {
	*router.Router

	contacts Contacts
}

// ContactsUpload is a list of contacts in a JSON body.
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
		Description: "Accepts JSON, JSON lines or CSV, streamed and up to 1 GB, with up to 1,000,000 contacts per campaign. " +
			"CSV needs a header row with the column phone, and optionally timezone, country and name. Every other column becomes a context variable. " +
			"Headers match the variables of the pathway without regard to case, spaces and punctuation: \"First Name\" matches first_name. Two columns for one variable are 422. " +
			"A column without a matching variable becomes a context variable with its own name. The response lists columns, unmapped and missing. " +
			"A row without a required variable does not become a contact and is listed in contact_errors. " +
			"The encoding is UTF-8, UTF-16 or the charset of the Content-Type. The delimiter is a comma, a semicolon or a tab. A line sep=;, a byte order mark and empty rows or columns are accepted. " +
			"The parameters phone_column, timezone_column, country_column and name_column name other columns, in the query or in form fields before the file. " +
			"multipart/form-data accepts one such file; a second one is 422. Invalid rows are counted and the first 100 are listed. The first of duplicate rows is used. " +
			"An upload is stored completely or not at all. GET …/uploads shows its progress. A running campaign uses the new contacts at once.",
	}, s.describeUpload, s.addContacts)
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/v1/campaigns/{id}/contacts", ID: "listContacts", Tag: tag, Summary: "List a campaign's contacts, in the order of upload",
		Description: "created_at of a contact is the start of its upload.",
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

// OneContact holds the path parameters that identify a contact of a campaign.
type OneContact struct {
	router.IDParam
	ContactID string `path:"contact_id" doc:"The id of the contact."`
}

// ids returns the validated ids of the campaign and the contact.
func (o OneContact) ids() (campaign, contact string, err error) {
	if campaign, err = router.PathID(domain.PrefixCampaign, o.ID); err == nil {
		contact, err = router.PathID(domain.PrefixContact, o.ContactID)
	}
	return campaign, contact, err
}

// apply copies the members of the request body to c.
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
		Method: http.MethodPatch, Path: path, ID: "updateContact", Tag: tag, Summary: "Change a waiting contact",
		Description: "Only in the status pending or retry_wait. The next attempt uses the change.",
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
		Method: http.MethodDelete, Path: path, ID: "deleteContact", Tag: tag, Errors: []int{http.StatusConflict}, Summary: "Remove a contact from a campaign",
		Description: "Only in the status pending or retry_wait. The contact is not called again and counts as cancelled (reason removed). It remains in lists and results, and is not copied with the campaign.",
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
		Description: "Newest first. An upload in progress shows its counts so far.",
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
		Method: http.MethodGet, Path: path + "/{upload_id}", ID: "getUpload", Tag: tag, Summary: "Get an upload with its progress or result",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.IDParam
		UploadID string `path:"upload_id" doc:"The id of the upload."`
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
		about := "The name of the CSV column with the " + field + ", as in the header row. Default: " + field + ". With another name, a column named " + field + " becomes the context variable file_" + field + ". JSON ignores this parameter."
		h.Parameters = append(h.Parameters, &huma.Param{Name: field + columnParam, In: "query", Description: about, Schema: &huma.Schema{Type: huma.TypeString, MaxLength: new(maxColumnName)}})
		file.Properties[field+columnParam] = &huma.Schema{Type: huma.TypeString, MaxLength: new(maxColumnName), Description: about}
	}
	bare := &huma.Schema{Type: huma.TypeArray, Items: router.SchemaOf[NewContact](s.API), Description: "A list of contacts."}
	h.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		fiber.MIMEApplicationJSON: {Schema: &huma.Schema{AnyOf: []*huma.Schema{router.SchemaOf[ContactsUpload](s.API), bare}}},
		router.MIMEJSONLines:      {Schema: text},
		router.MIMECSV:            {Schema: text, Example: "phone,name\n+12025550123,Ada\n"},
		fiber.MIMEMultipartForm:   {Schema: file},
	}}
	h.Responses["200"] = router.DescribeResponse("The result of the rows.", fiber.MIMEApplicationJSON, router.SchemaOf[contactlist.UploadSummary](s.API))
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
		// The context has no timeout. The reader of the request body already limits how slowly a client may send.
		ctx, cancel := context.WithCancel(s.Context(v))
		defer cancel()
		summary, err := s.contacts.UploadContacts(ctx, v.Principal, id, contactlist.ContactRows{Rows: router.RowsThenDrain(router.BodyOf(c), rows), Columns: &columns.Mapping})
		if err != nil {
			return err
		}
		summary.ColumnMapping = summary.WithoutNil()
		if summary.Errors == nil {
			summary.Errors = []domain.ContactError{}
		}
		return c.JSON(summary)
	})
}

const (
	columnParam   = "_column"
	maxColumnName = 1000 // maximum length in bytes
)

// setColumnName records in names which file column holds a contact field. An empty column name changes nothing.
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

// rowsOf returns an iterator over the contacts in a request body. It decodes the body by its content type.
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
		return intake.CSVWithColumns(text, as), nil
	case router.MIMEJSONLines, "application/ndjson", "application/jsonl", "application/x-jsonlines":
		return intake.NDJSON(r), nil
	case fiber.MIMEApplicationJSON:
		return intake.JSON(r), nil
	}
	return nil, domain.Errorf(domain.CodeUnsupportedMedia, "The body must be application/json, application/x-ndjson, text/csv or multipart/form-data.")
}
