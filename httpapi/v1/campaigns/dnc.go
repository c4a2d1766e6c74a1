package campaigns

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/intake"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/dnc"
	"github.com/callboard/callboard/service/record"
)

// DNCLists manages do-not-call lists.
type DNCLists interface {
	CreateDNCList(ctx context.Context, p domain.Principal, l *domain.DNCList) (*domain.DNCList, error)
	DNCList(ctx context.Context, p domain.Principal, id string) (*domain.DNCList, error)
	ListDNCLists(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.DNCList], error)
	UpdateDNCList(ctx context.Context, p domain.Principal, id string, change func(*domain.DNCList) error) (*domain.DNCList, error)
	// DeleteDNCList deletes a list. It returns invalid_state for the default list and for a list that a campaign uses.
	DeleteDNCList(ctx context.Context, p domain.Principal, id string) error
	// ImportDNC reads and stores all numbers with bounded memory. If an error ends the import, the numbers that precede
	// the error remain stored.
	ImportDNC(ctx context.Context, p domain.Principal, id string, rows iter.Seq2[domain.RawNumber, error]) (dnc.DNCImport, error)
	ListDNCEntries(ctx context.Context, p domain.Principal, id string, q record.PageQuery) (record.Page[domain.DNCEntry], error)
	DeleteDNCEntry(ctx context.Context, p domain.Principal, id, phone string) (e164 string, err error)
	CheckDNC(ctx context.Context, p domain.Principal, phone string) (dnc.DNCCheck, error)
}

// dncListHandlers serves the operations of do-not-call lists.
type dncListHandlers struct {
	*router.Router

	lists DNCLists
}

// NewDNCList is a do-not-call list in a request body.
type NewDNCList struct {
	Name     string            `json:"name" example:"National registry"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// DNCNumbers is a list of numbers in a JSON body.
type DNCNumbers struct {
	Entries []DNCNumber `json:"entries" nullable:"false" doc:"Numbers. An entry is an object, or the phone as a string."`
}

// TransformSchema changes the JSON schema so that an entry can be an object or a string with the phone number.
func (DNCNumbers) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	list := s.Properties["entries"]
	list.Items = &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString}, list.Items}}
	return s
}

// DNCNumber is a phone number in a DNCNumbers request body.
type DNCNumber struct {
	Phone   string `json:"phone" example:"+12025550123"`
	Country string `json:"country,omitempty" doc:"Country of a number without a country code, as an ISO 3166 code. Default: default_country of the workspace."`
}

// DNCEntryDeleted is the response to the removal of a number from a list.
type DNCEntryDeleted struct {
	Object  string `json:"object" enum:"dnc_entry"`
	Phone   string `json:"phone"`
	Deleted bool   `json:"deleted"`
}

// apply copies name and metadata from the request body to l and validates them.
func (n *NewDNCList) apply(l *domain.DNCList) error {
	l.Name, l.Metadata = n.Name, n.Metadata
	var p domain.Problems
	validation.Text(&p, "name", l.Name, true, validation.MaxName)
	validation.Metadata(&p, l.Metadata)
	return p.Err()
}

// registerDNCLists registers the operations of do-not-call lists.
func registerDNCLists(r *router.Router, lists DNCLists) {
	s := &dncListHandlers{Router: r, lists: lists}
	const tag, path = "Do not call", "/v1/dnc-lists"
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path, ID: "createDNCList", Tag: tag, Status: http.StatusCreated, Summary: "Create a do-not-call list"},
		func(ctx context.Context, p domain.Principal, in *struct{ Body NewDNCList }) (*router.Response[*domain.DNCList], error) {
			l := &domain.DNCList{}
			if err := in.Body.apply(l); err != nil {
				return nil, err
			}
			created, err := s.lists.CreateDNCList(ctx, p, l)
			return router.RespondCreated(ctx, created, err)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listDNCLists", Tag: tag, Summary: "List the do-not-call lists", Description: "Opt-outs are added to the default list. Every call is checked against it."},
		router.HandleList(s.lists, DNCLists.ListDNCLists, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getDNCList", Tag: tag, Summary: "Get a do-not-call list"},
		router.HandleByID(domain.PrefixDNC, s.lists, DNCLists.DNCList, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updateDNCList", Tag: tag, Summary: "Change a do-not-call list"},
		router.HandlePatchByID(s.Registry, domain.PrefixDNC, s.lists, DNCLists.UpdateDNCList, (*NewDNCList).apply))
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteDNCList", Tag: tag, Summary: "Delete a do-not-call list",
		Description: "409 invalid_state for the default list, and while an open campaign uses the list.", Errors: []int{http.StatusConflict},
	},
		router.HandleDeleteByID(domain.PrefixDNC, "dnc_list", s.lists, DNCLists.DeleteDNCList))
	s.registerEntries(tag, path+"/{id}/entries")
}

func (s *dncListHandlers) registerEntries(tag, path string) {
	s.AddRaw(router.Operation{
		Method: http.MethodPost, Path: path, ID: "importDNCEntries", Tag: tag, Summary: "Add numbers to a do-not-call list",
		Description: "Accepts JSON, text/csv with a header row and a column phone, or text/plain with one number per line. CSV and text may be streamed and contain " +
			"10 million numbers. Invalid rows are counted and the first 100 are listed. The numbers are added after the whole body is read: " +
			"an incomplete body is 400 and adds no number. Each number takes effect at once, also for queued attempts.",
	}, s.describeNumbers, s.importNumbers)
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: path, ID: "listDNCEntries", Tag: tag, Summary: "List the numbers of a do-not-call list in internal order", Errors: []int{http.StatusUnprocessableEntity},
		Description: "With created_after or created_before a page searches a bounded part of the list, so it may have fewer than limit numbers, or none, although next_cursor leads to more.",
	},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			router.Paging
		},
		) (*router.Response[router.List[domain.DNCEntry]], error) {
			id, err := router.PathID(domain.PrefixDNC, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.lists.ListDNCEntries(ctx, p, id, in.Query())
			return router.Page(l, err, router.Identity)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{phone}", ID: "deleteDNCEntry", Tag: tag, Summary: "Remove a number from a do-not-call list"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			Phone string `path:"phone" maxLength:"64" doc:"E.164, with or without the plus."`
		},
		) (*router.Response[DNCEntryDeleted], error) {
			id, err := router.PathID(domain.PrefixDNC, in.ID)
			if err != nil {
				return nil, err
			}
			phone, err := url.PathUnescape(in.Phone)
			if err != nil {
				phone = in.Phone
			}
			e164, err := s.lists.DeleteDNCEntry(ctx, p, id, phone)
			return router.Respond(DNCEntryDeleted{Object: "dnc_entry", Phone: e164, Deleted: true}, err)
		})
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/v1/dnc/check", ID: "checkDNC", Tag: tag, Summary: "Check whether a number is on a do-not-call list",
		Description: "Checks every list of the workspace.", Errors: []int{http.StatusUnprocessableEntity},
	},
		func(ctx context.Context, p domain.Principal, in *struct {
			Phone string `query:"phone" required:"true" maxLength:"64" doc:"The number, preferably in E.164."`
		},
		) (*router.Response[dnc.DNCCheck], error) {
			return router.Respond(s.lists.CheckDNC(ctx, p, in.Phone))
		})
}

func (s *dncListHandlers) describeNumbers(h *huma.Operation) {
	text := &huma.Schema{Type: huma.TypeString}
	h.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		fiber.MIMEApplicationJSON: {Schema: router.SchemaOf[DNCNumbers](s.API)},
		router.MIMECSV:            {Schema: text, Example: "phone\n+12025550123\n"},
		fiber.MIMETextPlain:       {Schema: text, Example: "+12025550123\n+12025550124\n"},
	}}
	h.Responses["200"] = router.DescribeResponse("The result of the rows.", fiber.MIMEApplicationJSON, router.SchemaOf[dnc.DNCImport](s.API))
}

func (s *dncListHandlers) importNumbers(c *fiber.Ctx) error {
	id, err := router.PathID(domain.PrefixDNC, c.Params("id"))
	if err != nil {
		return err
	}
	if enc := c.Get(fiber.HeaderContentEncoding); enc != "" && enc != "identity" {
		return domain.Errorf(domain.CodeUnsupportedMedia, "The body must not be compressed.")
	}
	return s.RunStreamOnce(c, func() error {
		rows, err := s.numbersOf(c)
		if err != nil {
			return err
		}
		v := router.RequestOf(c.UserContext())
		ctx, cancel := context.WithCancel(s.Context(v)) // no timeout: the reader of the body limits how slowly a client may send
		defer cancel()
		sum, err := s.lists.ImportDNC(ctx, v.Principal, id, router.RowsThenDrain(router.BodyOf(c), rows))
		if err != nil {
			return err
		}
		return c.JSON(sum)
	})
}

// numbersOf returns an iterator over the phone numbers in a request body. It decodes the body by its content type.
func (s *dncListHandlers) numbersOf(c *fiber.Ctx) (iter.Seq2[domain.RawNumber, error], error) {
	b := router.BodyOf(c)
	kind := router.MediaType(c)
	switch kind {
	case router.MIMECSV, fiber.MIMETextPlain:
		text, err := router.DecodeCharset(b, router.CharsetOf(c.Get(fiber.HeaderContentType)))
		if err != nil {
			return nil, err
		}
		if kind == router.MIMECSV {
			return intake.NumbersOf(intake.CSV(text)), nil
		}
		return intake.NumberLines(text), nil
	case fiber.MIMEApplicationJSON:
		text, err := io.ReadAll(io.LimitReader(b, s.JSONLimit+1))
		if err != nil {
			return nil, err
		}
		if int64(len(text)) > s.JSONLimit {
			return nil, router.ErrBodyTooLarge.With("limit", s.JSONLimit)
		}
		return intake.JSONNumbers(text)
	}
	return nil, domain.Errorf(domain.CodeUnsupportedMedia, "The body must be application/json, text/csv or text/plain.")
}

// CheckRules returns the violations of rules for name and metadata that the JSON schema cannot express.
func (n *NewDNCList) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.DNCList{})
}
